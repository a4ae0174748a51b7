"""The page for newcomers, followed to the letter; TLS; what deploys it."""

from __future__ import annotations

import http.client
import json
import os
import re
import runpy
import shutil
import signal
import ssl
import subprocess
import sys
import tomllib
import urllib.error
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from voile.errors import BadFile
from voile.service.config import Server as Limits
from voile.service.running import require_certificate
from voile.service.tokens import token_hash

from .servers import Server, free_port


@pytest.fixture
def page(root):
    return (root / "docs/how-to/serve.md").read_text("utf-8")


def blocks(page, kind):
    return re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL)


def in_shell(command, folder, **env):
    """A command of the page, in an empty folder, with this environment's `voile`."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command], cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PATH": path, **env},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_page_followed_to_the_letter(page, tmp_path, root):
    """Its commands, its file, its curl, and the client beside it."""
    if shutil.which("curl") is None:
        pytest.skip("no curl here")
    start, asking, *_ = blocks(page, "console")
    install, init, _, new_token, *_ = start.splitlines()
    assert install == "$ pip install 'voile[web]'"  # as it is here
    in_shell(init.removeprefix("$ "), tmp_path)
    made = in_shell(new_token.removeprefix("$ "), tmp_path)
    token, digest = re.search(r"voile_\S+", made)[0], re.search(r'sha256 = "(\w+)"', made)[1]
    assert token_hash(token) == digest
    port = free_port()
    stated = blocks(page, "toml")[0].replace('sha256 = "…"', f'sha256 = "{digest}"')
    (tmp_path / "service.toml").write_text(stated.replace("8787", str(port)))
    server = Server(tmp_path, port)
    try:
        curl, shown = asking.strip().splitlines()
        curl = curl.removeprefix("$ ").replace("8787", str(port))
        first, again = [json.loads(in_shell(curl, tmp_path, TOKEN=token)) for _ in "12"]
        assert first == again, "the same key"
        assert first.keys() == json.loads(shown).keys()
        assert first["release"].keys() == json.loads(shown)["release"].keys()
        for route, record in (
            ("text", {"text": "I met a doctor in Rome"}),
            ("labels", {"diagnosis": "flu", "age": 31}),
        ):
            client = runpy.run_path(str(root / "examples/service/client.py"))["Client"]
            assert client(server.url, token).release(route, record).keys() == record.keys()
        described = json.loads(server.get("/openapi.json"))
        for route in set(re.findall(r"`(?:GET|POST) (/[^`]+)`", page)) - {"/v1/chat/completions"}:
            assert route in described["paths"]
    finally:
        assert server.end(signal.SIGTERM) == 0
    assert "4711" not in server.logged()
    assert token not in server.logged()
    for file in tmp_path.glob("places.db*"):
        assert file.stat().st_mode & 0o077 == 0, file.name


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    """A certificate for localhost, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here to make a certificate with")
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", folder / "key.pem",
         "-out", folder / "certificate.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    return folder


def test_tls_by_files_from_end_to_end(certified, tmp_path, root):
    port, token = free_port(), "a token of this test"
    (tmp_path / "service.toml").write_text(
        f"""voile = 1
[server]
port = {port}
certificate = "{certified}/certificate.pem"
key = "{certified}/key.pem"
[places]
epsilon = 2
[[tokens]]
name = "test"
sha256 = "{token_hash(token)}"
rights = ["places"]
"""
    )
    server = Server(tmp_path, port, certificate=certified / "certificate.pem")
    try:
        body = json.dumps({"record": {"lat": 48.8, "lon": 2.3}}).encode()
        answer = server.get("/v1/places", data=body, authorization=f"Bearer {token}")
        assert json.loads(answer)["release"].keys() == {"lat", "lon"}
        done = subprocess.run(
            [sys.executable, root / "examples/service/client.py", server.url, "places",
             '{"lat": 48.8, "lon": 2.3}'],
            env={**os.environ, "VOILE_TOKEN": token,
                 "SSL_CERT_FILE": str(certified / "certificate.pem")},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert json.loads(done.stdout).keys() == {"lat", "lon"}
        server.trusted = ssl.create_default_context()
        with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
            server.get("/healthz")  # whoever does not know the certificate is not fooled
        server.url = server.url.replace("https", "http")
        with pytest.raises((urllib.error.URLError, http.client.HTTPException, ConnectionError)):
            server.get("/v1/places", data=body, authorization=f"Bearer {token}")
    finally:
        assert server.end(signal.SIGTERM) == 0
    assert f"listening on https://127.0.0.1:{port}" in server.logged()
    assert token not in server.logged()


def test_a_key_that_does_not_fit_is_told_before_anything_is_served(certified, tmp_path):
    (tmp_path / "other.pem").write_text("no certificate")
    (tmp_path / "service.toml").write_text(
        f"""voile = 1
[server]
port = {free_port()}
certificate = "other.pem"
key = "{certified}/key.pem"
[places]
epsilon = 2
[[tokens]]
name = "test"
sha256 = "{token_hash("t")}"
rights = ["places"]
"""
    )
    done = subprocess.run(
        [sys.executable, "-m", "voile", "serve", "service.toml"], cwd=tmp_path,
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode != 0
    assert "certificate" in done.stderr
    assert "Traceback" not in done.stderr


def test_systemd_takes_the_unit(root, tmp_path):
    """Every key is known to it, and what stands in the unit holds together."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze here: apt-get install systemd")
    unit = (root / "deploy/voile.service").read_text("utf-8")
    program = re.search(r"^ExecStart=(\S+)", unit, re.MULTILINE)[1]
    (tmp_path / "voile.service").write_text(unit.replace(program, "/bin/true"))
    verify = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no"]
    done = subprocess.run(
        [*verify, tmp_path / "voile.service"], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "wrong.service").write_text(unit.replace("ProtectClock", "ProtectsClock"))
    wrong = subprocess.run([*verify, tmp_path / "wrong.service"], capture_output=True, text=True)
    assert "ProtectsClock" in wrong.stderr


def test_the_images_steps_name_what_is_there(root):
    """Files that are copied, extras that are installed, the command that is started."""
    steps = (root / "deploy/Dockerfile").read_text("utf-8").replace("\\\n", " ")
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    copied = [
        name for line in re.findall(r"^COPY (.+)$", steps, re.M) for name in line.split()[:-1]
    ]
    assert copied
    assert all((root / name).exists() for name in copied)
    extras = re.search(r"/src\[([\w,]+)\]", steps)[1].split(",")
    assert set(extras) <= project["optional-dependencies"].keys()
    (entry,) = re.findall(r"^ENTRYPOINT (.+)$", steps, re.M)
    assert json.loads(entry)[0] in project["scripts"]
    (base,) = re.findall(r"^FROM python:(\d+\.\d+)", steps, re.M)
    assert tuple(map(int, base.split("."))) >= (3, 11)
    healthy = json.loads(re.search(r"HEALTHCHECK.*?CMD\s+(\[.*\])", steps)[1])
    compile(healthy[2], "HEALTHCHECK", "exec")


@pytest.mark.parametrize(
    ("begins", "ends", "taken"), [(-9, -2, False), (-1, 2, True), (2, 9, False)]
)
def test_a_certificate_that_is_out_of_date_is_refused(begins, ends, taken, tmp_path):
    """Else every client finds it, and the service's log says nothing."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, today = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 1)
        .not_valid_before(today + timedelta(days=begins))
        .not_valid_after(today + timedelta(days=ends))
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (tmp_path / "certificate.pem").write_bytes(made.public_bytes(pem))
    (tmp_path / "key.pem").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    server = Limits(certificate=f"{tmp_path}/certificate.pem", key=f"{tmp_path}/key.pem")
    with nullcontext() if taken else pytest.raises(BadFile, match="has expired, or is not valid"):
        require_certificate(server)
