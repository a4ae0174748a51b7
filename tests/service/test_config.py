"""What a service is told: every key known, every value of its type, every route certified."""

from __future__ import annotations

import json
import logging
import re
import socket
import types

import pytest

import voile
from voile.errors import BadFile, InvalidInput
from voile.service.config import Gateway, config_from, read_config
from voile.service.counting import Shared
from voile.service.domains import load_domain
from voile.service.gateway import PromptGateway
from voile.service.logs import LOG
from voile.service.running import MakeService, load_domains, supervise
from voile.service.running import _listening as listening_at
from voile.service.tokens import token_hash

from .conftest import stated


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"voile": 2}, "must begin with voile = 1"),
        ({"plaices": {}}, "did you mean places?"),
        ({"server": {"prot": 1}}, "did you mean port?"),
        ({"server": {"port": "80"}}, "[server] port must be"),
        ({"server": {"workers": 0}}, "[server] workers must be > 0"),
        ({"server": {"key": "k.pem"}}, "must be given together"),
        ({"server": []}, "must be a table"),
        ({"server": {"waiting_bytes": 999_999}}, "at least body_bytes, 1,000,000"),
        ({"tokens": {}}, "must be a list"),
        ({"tokens": []}, "who may ask"),
        ({"tokens": [{"name": "a", "sha256": "ab", "rights": []}]}, "64 hexadecimal"),
        ({"tokens": [{"name": "a"}]}, "must say sha256"),
        ({"tokens": [{"name": "a", "sha256": "a" * 64, "rights": [], "burst": 5}]}, "its burst, 5"),
        ({"gateway": {"upstream": "ftp://x"}}, "must begin with https://"),
        ({"gateway": {"upstream": "https://x"}, "server": {"workers": 2}}, "workers must be 1"),
    ],
)
def test_what_is_wrong_is_said(tables, said):
    with pytest.raises((BadFile, InvalidInput), match=re.escape(said)):
        config_from({**stated(places={"epsilon": 1.0}), **tables})


def test_a_right_that_there_is_not_is_refused_with_the_nearest():
    token = {"name": "a", "sha256": token_hash("x"), "rights": ["place"]}
    with pytest.raises(InvalidInput, match="did you mean places"):
        config_from({**stated(places={"epsilon": 1.0}), "tokens": [token]})


def test_two_tokens_of_one_name_are_refused():
    tables = stated(places={"epsilon": 1.0})
    with pytest.raises(InvalidInput, match="same name"):
        config_from({**tables, "tokens": [*tables["tokens"], *tables["tokens"]]})


def test_nothing_to_offer_is_refused():
    with pytest.raises(InvalidInput, match="must offer something"):
        config_from(stated())


def test_a_file_that_is_none(tmp_path):
    (tmp_path / "a.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadFile, match="must be a TOML file"):
        read_config(tmp_path / "a.toml")


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("places", {"epsilom": 1.0}, "did you mean epsilon?"),
        ("places", {"epsilon": "1"}, "--epsilon must be"),
        ("places", {"epsilon": 1.0, "seed": 3}, "no option 'seed' of a service"),
        ("places", {"epsilon": 1.0, "out": "x"}, "no option 'out' of a service"),
        ("places", {"epsilon": 1.0, "outside": "few"}, "move or refuse"),
        ("places", {"epsilon": 1.0, "pass": "all"}, "must name its fields"),
        ("places", {}, "give one of --epsilon"),
        ("text", {"epsilon": 1.0, "vocabulary": "private-corpus"}, "public one"),
        ("labels", {"epsilon": 1.0}, "must say label"),
        ("labels", {"epsilon": 1.0, "label": "x"}, "must be public"),
        ("labels", {"epsilon": 1.0, "label": "x", "mechanism": "sample"}, "records"),
    ],
)
def test_options_of_a_command_are_checked_as_the_command_does(name, options, said):
    with pytest.raises(InvalidInput, match=re.escape(said)):
        load_domain(name, options)


def test_draws_that_records_share_are_refused(tmp_path):
    """A scope of a person needs records that have not come."""
    vectors = tmp_path / "v.txt"
    vectors.write_text("good 0 1\nbad 1 0\nfine 0 1.5\n")
    options = {"epsilon": 3.0, "vocabulary": str(vectors), "consistent": "file"}
    with pytest.raises(InvalidInput, match="each record by itself"):
        load_domain("text", options)


def test_the_guarantee_has_one_name_and_another_if_anything_differs(tmp_path):
    first = load_domain("places", {"epsilon": 2.0})
    assert first.guarantee == load_domain("places", {"epsilon": 2.0}).guarantee
    others = [{"epsilon": 2.5}, {"epsilon": 2.0, "lat": "y"}, {"epsilon": 2.0, "outside": "move"}]
    names = {load_domain("places", options).guarantee for options in others}
    assert len(names | {first.guarantee}) == 4
    assert first.promise.guarantee.epsilon == 2.0


def test_a_guarantee_is_named_by_what_its_files_hold_wherever_they_lie(tmp_path):
    """And no path of this machine is told to who asks."""

    def told(folder, names="Ann Smith\n"):
        (tmp_path / folder).mkdir()
        vectors, listed = tmp_path / folder / "v.txt", tmp_path / folder / "names.txt"
        vectors.write_text("good 0 1\nbad 1 0\nfine 0 1.5\n")
        listed.write_text(names)
        text = {"vocabulary": str(vectors), "find": ["names"], "pipeline": str(listed)}
        domain = load_domain("text", {"epsilon": 3.0, "no_cache": True, **text})
        upstream = {"upstream": "https://vendor.example/v1", "pipeline": str(listed)}
        gateway = PromptGateway(Gateway(**upstream), bytes(32))
        assert str(tmp_path) not in json.dumps([domain.facts(), gateway.facts()])
        return domain.guarantee, gateway.guarantee

    first = told("here")
    assert told("there") == first
    assert not set(told("elsewhere", "Ann Smith\nBob\n")) & set(first)


def test_a_check_builds_all_and_serves_nothing(tmp_path):
    file = tmp_path / "service.toml"
    lines = ["voile = 1", "[places]", "epsilon = 2.0", "[[tokens]]", 'name = "a"',
             f'sha256 = "{token_hash("x")}"', 'rights = ["places"]']  # fmt: skip
    file.write_text("\n".join(lines))
    checked = voile.serve(file, check=True)
    assert [one.route for one in checked.routes] == ["places"]
    assert "e^2" in str(checked)
    token = voile.serve(new_token=True)
    assert token_hash(token.token) == token.sha256
    assert token.token in str(token)
    assert token.sha256 in str(token)
    with pytest.raises(InvalidInput, match="name the service's TOML file"):
        voile.serve()


def test_a_worker_that_finds_other_files_does_not_start(tmp_path, capsys):
    """What was certified stays what is drawn from; a changed file is another guarantee."""
    vectors = tmp_path / "v.txt"
    vectors.write_text("good 0 1\nbad 1 0\nfine 0 1.5\n")
    options = {"epsilon": 3.0, "vocabulary": str(vectors), "no_cache": True}
    config = config_from(stated(text=options))
    certified = {name: one.guarantee for name, one in load_domains(config).items()}
    shared = Shared.of(config.tokens)
    before = LOG.handlers[:]
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # as a studio leaves it
    try:
        assert MakeService(config, certified, shared)().domains["text"].guarantee
        vectors.write_text("good 0 1\nbad 1 0\nfine 0 1.6\n")
        with pytest.raises(SystemExit) as ended:
            MakeService(config, certified, shared)()
        assert ended.value.code == 3
        said = json.loads(capsys.readouterr().err)  # one line, and no trace
        logging.getLogger("uvicorn.error").error("a worker died")
        assert json.loads(capsys.readouterr().err)["message"] == "a worker died"
        assert "another than when the service was started" in said["message"]
    finally:
        LOG.handlers, LOG.propagate = before, True
        logging.getLogger("uvicorn").handlers = []


def test_a_worker_that_can_never_start_stops_the_service_with_an_error(monkeypatch):
    """Started again and again, it would leave a port that nobody answers."""
    module = pytest.importorskip("uvicorn.supervisors.multiprocess")

    class Failed:
        """A worker that ended as one whose files were changed."""

        exitcode = 3
        process = property(lambda self: self)

        def terminate(self):
            pass

        join = terminate

    def failed(supervisor):
        supervisor.processes.append(Failed())

    monkeypatch.setattr(module, "SIGNALS", {})
    monkeypatch.setattr(module.Multiprocess, "init_processes", failed)
    with pytest.raises(BadFile, match="the service has stopped"):
        supervise(types.SimpleNamespace(workers=1), None)


def test_a_service_that_says_where_it_listens_does():
    with listening_at("127.0.0.1", 0) as made:
        socket.create_connection(made.getsockname(), timeout=30).close()
