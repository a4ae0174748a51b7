"""What a recipient may read: the file its guarantee was written for, and draws only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import voile
from voile.errors import BadFile, InvalidInput
from voile.text.reading import texts_of

pytest.importorskip("numba")
WORDS = [f"w{i}" for i in range(30)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(3)
    vectors = [f"{w} {a:.3f} {b:.3f}" for w, (a, b) in
               zip(WORDS, rng.normal(size=(30, 2)), strict=True)]  # fmt: skip
    (tmp_path / "v.txt").write_text("\n".join(vectors) + "\n")
    rows = [" ".join(rng.choice(WORDS, 6)) for _ in range(40)]
    (tmp_path / "in.csv").write_text("text,user\n" + "".join(f"{row} w1 w1,u\n" for row in rows))
    (tmp_path / "names.txt").write_text("w1\n")
    return tmp_path


def protect(folder: Path, **options: Any) -> Any:
    given = {"epsilon": 1.0, "vocabulary": str(folder / "v.txt"), "no_cache": True, "seed": 1,
             "pass_": "user", "out": str(folder / "sent.csv")}  # fmt: skip
    return voile.text.protect(str(folder / "in.csv"), **(given | options))


def restore(folder: Path, data: Any = None, **options: Any) -> Any:
    given = {"vocabulary": str(folder / "v.txt"), "no_cache": True, "overwrite": True}
    return voile.text.restore(data or str(folder / "sent.csv"), **(given | options))


def change(folder: Path, **fields: Any) -> None:
    path = folder / "sent.csv.guarantee.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def test_a_release_with_stand_ins_is_refused(folder: Path) -> None:
    protect(folder, pseudonyms=True, pipeline=str(folder / "names.txt"))
    with pytest.raises(InvalidInput, match="stand-ins"):
        restore(folder)


def test_what_was_drawn_alike_stays_alike(folder: Path) -> None:
    sent = protect(folder, consistent="document")
    read = restore(folder)
    for before, after in zip(texts_of(sent.data), texts_of(read.data), strict=True):
        pairs = set(zip(before.lower().split(), after.lower().split(), strict=True))
        assert len({draw for draw, _ in pairs}) == len(pairs)
    said = json.loads((folder / "sent.restored.csv.guarantee.json").read_text())
    assert said["consistent"] == "document"


def test_what_rows_share_is_refused(folder: Path) -> None:
    protect(folder, consistent="file")
    with pytest.raises(InvalidInput, match="--consistent file"):
        restore(folder)


def test_another_file_or_another_epsilon_is_refused(folder: Path) -> None:
    protect(folder)
    said = (folder / "sent.csv.guarantee.json").read_text()
    (folder / "in.csv.guarantee.json").write_text(said)
    with pytest.raises(InvalidInput, match="guarantee was written for"):
        restore(folder, str(folder / "in.csv"))
    change(folder, guarantee=json.loads(said)["guarantee"] | {"epsilon": 0.1})
    with pytest.raises(BadFile, match="one epsilon"):
        restore(folder)


@pytest.mark.parametrize("field", ["levels", "vocabulary", "guarantee", "restored", "seed"])
def test_a_malformed_guarantee_file_is_told(folder: Path, field: str) -> None:
    protect(folder)
    for value in (5, [3], "x", {"a": 1}, [{"epsilon": "x"}], [{"epsilon": [1]}]):
        if (field, value) != ("seed", 5):
            change(folder, **{field: value})
            with pytest.raises(BadFile):
                restore(folder)


@pytest.mark.parametrize("given", [{"a": 1}, 7, ["x"]])
def test_what_is_no_guarantee_is_told(folder: Path, given: Any) -> None:
    with pytest.raises(InvalidInput, match="--guarantee must"):
        restore(folder, ["w1 w2"], guarantee=given)


def test_sentences_say_what_was_done(folder: Path) -> None:
    sent = protect(folder, restore="reading")
    said = str(sent)
    assert "Read as a whole" not in said
    assert "Read word by word" in said
    assert f"among its {len(WORDS) + 1} likeliest" in said or f"its {len(WORDS)} likeliest" in said


def test_a_remap_asks_for_no_fit(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="--misfit"):
        protect(folder, remap=True, misfit="drawn")


def test_a_restart_agrees_in_the_content_of_what_finds(folder: Path) -> None:
    from voile.text.options import Names, Strength, Words
    from voile.text.settings import settings_from

    own = folder / "mine.py"

    def identity() -> Any:
        names = Names(pseudonyms=True, pipeline=str(folder / "names.txt"))
        words = Words(find=(f"mine={own}:find",))
        return settings_from("text", Strength(epsilon=1.0), "tem", words, names).identity()

    own.write_text("def find(text):\n    return []\n")
    first = identity()
    assert identity() == first
    (folder / "names.txt").write_text("w2\n")
    second = identity()
    own.write_text("def find(text):\n    return [(0, 1, 'X')]\n")
    assert first != second != identity()
