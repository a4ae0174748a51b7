"""Files that are not data (mechanisms, recipes) and ledgers' addresses: loaded, or refused."""

from __future__ import annotations

import io
import json
import random
import zipfile
from pathlib import Path
from typing import Any

from fuzz.inputs import TOKEN, Made, _spoiled, value, word
from fuzz.oracle import _quiet
from voile.errors import VoileError
from voile.labels import Reading, read_labelled
from voile.labels.recipe_file import recipe_from
from voile.places.columns import read_degrees
from voile.storage import _digest, load


def edited(node: Any, chance: random.Random) -> Any:
    """A JSON value with one place in it changed, left out, or doubled."""
    if isinstance(node, dict) and node and chance.random() < 0.85:
        key = chance.choice(list(node))
        inner = dict(node)
        if chance.random() < 0.15:
            del inner[key]
        else:
            inner[key] = edited(node[key], chance)
        return inner
    if isinstance(node, list) and node and chance.random() < 0.85:
        place = chance.randrange(len(node))
        kind = chance.randrange(6)
        if kind == 0:
            return node[:place] + node[place + 1 :]
        if kind == 1:
            return [*node, node[place]]
        return [*node[:place], edited(node[place], chance), *node[place + 1 :]]
    odd = [None, -1, 0, 1e308, 2**80, "", [], {}, True, float("nan"), float("inf"), word(chance)]
    return chance.choice([*odd, value(chance)])


def voile_file(good: bytes, chance: random.Random) -> bytes:
    """A saved mechanism with damaged bytes, or with a manifest that was edited and resealed."""
    if chance.random() < 0.4:
        return _spoiled(good, chance, 1.0)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(good)) as before, zipfile.ZipFile(out, "w") as after:
        for name in before.namelist():
            content = before.read(name)
            if name == "voile.json":
                manifest = edited(json.loads(content), chance)
                if isinstance(manifest, dict):
                    manifest["sha256"] = _digest(manifest)
                content = json.dumps(manifest).encode()
            elif chance.random() < 0.1:
                continue
            after.writestr(name, content)
    return out.getvalue()


def check_voile(content: bytes) -> str:
    """A mechanism, certified anew, or a clean refusal."""
    try:
        load("some.voile", content=content)
    except VoileError:
        return "refused"
    return "loaded"


def check_recipe(good: str, chance: random.Random) -> str:
    """A recipe, or a clean refusal."""
    text = json.dumps(edited(json.loads(good), chance))
    if chance.random() < 0.2:
        text = _spoiled(text.encode(), chance, 1.0).decode("utf-8", "replace")
    try:
        recipe_from(text)
    except VoileError:
        return "refused"
    return "loaded"


def check_table(given: Made, folder: Path, number: int) -> str:
    """The readers of labelled tables and of places, on any file."""
    path = folder / given.name
    path.write_bytes(given.content)
    answers = []
    policy: Any = ("fail", "skip", "mask")[number % 3]
    readers = [
        lambda: read_labelled(path, label="y", reading=Reading(on_error=policy)),
        lambda: read_labelled(path, label="c1", reading=Reading(header=False, on_error=policy)),
        lambda: read_degrees(path),
    ]
    for read in readers:
        try:
            read()
            answers.append("read")
        except VoileError as problem:
            _quiet(str(problem))
            answers.append("refused")
    return answers[number % len(answers)]


SCHEMES = ["", "file://", "postgresql://", "postgres://", "sqlite://", "s3://", "http://", "//"]


def ledger_address(chance: random.Random) -> str:
    """What a user might take for a ledger's address, with a password in it."""
    secret = TOKEN + chance.choice(["", "%", "%zz", " ", "@", ":", "/", "#", "é", "\\", "'"])
    kinds = [
        f"{chance.choice(SCHEMES)}user:{secret}@127.0.0.1:1/db",
        f"host=127.0.0.1 port=1 password={secret}",
        f"{chance.choice(SCHEMES)}127.0.0.1:{chance.choice(['x', '99999', '-1', ''])}/{secret}",
        f"{chance.choice(SCHEMES)}{chance.choice(['', '.', '..', '/', 'no/such/folder'])}",
        f"postgresql://[::1/{secret}",
        "\0",
        "x" * 5000,
    ]
    return chance.choice(kinds)
