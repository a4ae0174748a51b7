"""Draws read as a whole: better words, the same guarantee, and public text that must be public."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import voile
from voile.errors import InvalidInput
from voile.text.language_prior import HELD_OUT_EVERY
from voile.text.reading import texts_of

pytest.importorskip("numba")

STARTS = ["please", "kindly", "now", "quickly"]
VERBS = ["book", "play", "find", "show", "buy", "sell"]
ITEMS = [f"thing{i}" for i in range(40)]
OTHER = [f"alien{i}" for i in range(40)]
WORDS = [*STARTS, *VERBS, *ITEMS, *OTHER, "today", "tomorrow"]


def sentence(rng: np.random.Generator, items: list[str] = ITEMS) -> str:
    """Each verb has its own few things: what a word is can be told from the one before."""
    verbs = rng.integers(len(VERBS), size=rng.integers(2, 8)).tolist()
    asked = ", ".join(f"{VERBS[v]} {items[(6 * v + int(rng.integers(8))) % 40]}" for v in verbs)
    return f"{STARTS[rng.integers(4)]} {asked} {('today', 'tomorrow')[rng.integers(2)]}."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("restore")
    rng = np.random.default_rng(11)
    vectors = rng.normal(size=(len(WORDS), 4)) * 1.2
    lines = [
        f"{w} {' '.join(f'{v:.4f}' for v in row)}" for w, row in zip(WORDS, vectors, strict=True)
    ]
    (made / "vectors.txt").write_text("\n".join(lines) + "\n")
    for name, count in (("public", 600), ("private", 200)):
        rows = [sentence(rng) for _ in range(count)]
        (made / f"{name}.csv").write_text("text\n" + "\n".join(f'"{row}"' for row in rows) + "\n")
    rows = [" ".join(rng.permutation(OTHER)[:9]) for _ in range(600)]
    (made / "alien.csv").write_text("text\n" + "\n".join(rows) + "\n")
    return made


def protect(folder: Path, **options):
    given = {
        "epsilon": 2.5,
        "vocabulary": str(folder / "vectors.txt"),
        "seed": 1,
        "overwrite": True,
        "no_cache": True,
        "mechanism": "word-exponential",
    }
    return voile.text.protect(str(folder / "private.csv"), **(given | options))


def right(folder: Path, release) -> float:
    before, after = (
        " ".join(texts_of(path)).replace(",", "").replace(".", "").split()
        for path in (folder / "private.csv", release.data)
    )
    return float(np.mean([a.lower() == b.lower() for a, b in zip(before, after, strict=True)]))


def test_more_words_are_right_and_the_guarantee_is_the_same(folder: Path) -> None:
    drawn = protect(folder)
    shares = {"drawn": right(folder, drawn)}
    for use in ("reading", "retrieval"):
        read = protect(folder, restore=use, public=str(folder / "public.csv"))
        shares[use] = right(folder, read)
        assert read.guarantee == drawn.guarantee
        assert read.spent == drawn.spent
        assert "post-processing" in str(read)
        assert "The public text fits" in str(read)
    assert shares["reading"] > shares["drawn"] + 0.15
    assert shares["reading"] >= shares["retrieval"] > shares["drawn"]


def test_the_guarantee_file_says_what_was_read_with(folder: Path) -> None:
    import hashlib

    release = protect(folder, restore="reading", public=str(folder / "public.csv"))
    said = json.loads((folder / "private.protected.csv.guarantee.json").read_text())["restored"]
    content = (folder / "public.csv").read_bytes()
    assert said["prior"]["sha256"] == hashlib.sha256(content).hexdigest()
    assert said["prior"]["file"] == "public.csv"
    assert said["prior"]["texts"] == 600 - 600 // HELD_OUT_EVERY
    assert said["use"], said["output"] == ("reading", "likeliest word")
    assert said["fell_back"] == 0
    assert said["texts"] == 200
    assert 0 <= said["left_out"] < 1
    assert release.restored is not None
    assert release.restored.words == said["words"] == release.counts.drawn


def test_a_prior_of_another_kind_is_noticed_and_not_used(folder: Path) -> None:
    drawn = protect(folder)
    expected = Path(drawn.data).read_text()
    unfit = protect(folder, restore="training", public=str(folder / "alien.csv"))
    assert Path(unfit.data).read_text() == expected
    assert "DOES NOT FIT 200 of 200" in str(unfit)
    assert unfit.restored.fell_back == 200
    assert "Nothing was read" in str(unfit)
    assert "Read as a whole" not in str(unfit)
    given = {"vocabulary": str(folder / "vectors.txt"), "no_cache": True, "overwrite": True}
    later = voile.text.restore(unfit.data, public=str(folder / "public.csv"), **given)
    assert "200 texts were read as a whole" in str(later)
    plain = protect(
        folder, restore="training", public=str(folder / "alien.csv"), misfit="frequencies"
    )
    assert "by general frequencies" in str(plain)
    used = protect(folder, restore="reading", public=str(folder / "alien.csv"), misfit="ignore")
    assert used.restored.fell_back == 0
    assert "was not asked" in str(used)


def test_a_few_words_do_not_say_that_the_public_text_fits(folder: Path) -> None:
    """Nor that it does not: they are read with it, and the report says that it could not tell."""
    given = {
        "epsilon": 2.5, "vocabulary": str(folder / "vectors.txt"), "seed": 1, "no_cache": True,
        "mechanism": "word-exponential", "restore": "reading", "public": str(folder / "public.csv"),
    }  # fmt: skip
    for text in ("please book thing1", "alien3 alien7"):
        said = str(voile.text.protect([text], **given))
        assert "Too few words to tell whether the public text fits" in said
        assert "The public text fits" not in said


def test_without_public_text_each_word_is_read_by_itself(folder: Path) -> None:
    release = protect(folder, restore="reading")
    assert release.restored.prior.file is None
    assert "each word was read by itself" in str(release)


def test_several_processes_and_parts_read_the_same(folder: Path) -> None:
    given = {"restore": "reading", "public": str(folder / "public.csv"), "batch_rows": 50}
    alone = Path(protect(folder, **given).data).read_text()
    assert Path(protect(folder, jobs=2, **given).data).read_text() == alone


def test_what_was_interrupted_is_continued(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that were drawn and read stay as they are; the rest and the totals are as ever."""
    from voile.jobs import run as running

    given = {"restore": "reading", "public": str(folder / "public.csv"), "batch_rows": 50}
    whole = protect(folder, **given)
    rows, honest = Path(whole.data).read_text(), running.draw_part
    monkeypatch.setattr(
        running, "draw_part", lambda r, task: _stop() if task.part == 2 else honest(r, task)
    )
    with pytest.raises(KeyboardInterrupt):
        protect(folder, **given)
    monkeypatch.undo()
    again = protect(folder, **given)
    assert again.resumed_parts == 2
    assert Path(again.data).read_text() == rows
    assert again.restored == whole.restored


def _stop() -> None:
    raise KeyboardInterrupt


def test_data_in_memory(folder: Path) -> None:
    rows, public = (texts_of(folder / f"{n}.csv") for n in ("private", "public"))
    release = voile.text.protect(
        rows, epsilon=2.5, vocabulary=str(folder / "vectors.txt"), restore="reading",
        public=public, mechanism="word-exponential", no_cache=True, preview=2,
    )  # fmt: skip
    assert len(release.data) == 200
    assert len(release.sample) == 2
    with pytest.raises(InvalidInput, match="must not be the private text"):
        voile.text.protect(rows, epsilon=2.5, restore="reading", public=rows, top=100)


def planted(folder: Path, name: str, rows: list[str]) -> str:
    path = folder / name
    path.write_text("text\n" + "\n".join(f'"{row}"' for row in rows) + "\n")
    return str(path)


def test_a_prior_made_from_the_private_text_is_refused(folder: Path) -> None:
    private, public = (texts_of(folder / f"{n}.csv") for n in ("private", "public"))
    long = [
        f"{row} {a} {b}" for row, a, b in zip(private[:-2], private[1:-1], private[2:], strict=True)
    ]
    source = planted(folder, "long.csv", long)
    copies = {
        "itself": source,
        "copy": planted(folder, "copy.csv", long),
        "shuffled": planted(folder, "shuffled.csv", [*long[::-1]]),
        "a third of it": planted(folder, "third.csv", [*long[::3], *public]),
        "edited": planted(folder, "edited.csv", [f"well {row.upper()} indeed" for row in long]),
        "among others": planted(folder, "mixed.csv", [" ".join(long[i : i + 5]) for i in
                                                      range(0, len(long), 5)] + public),
    }  # fmt: skip
    (folder / "link.csv").symlink_to(source)
    copies["a link to it"] = str(folder / "link.csv")
    for what, path in copies.items():
        for asked in ({"restore": "reading"}, {"remap": True}):
            with pytest.raises(InvalidInput, match="must not be the private text") as caught:
                voile.text.protect(source, epsilon=2.5, public=path, overwrite=True,
                                   vocabulary=str(folder / "vectors.txt"), **asked)  # fmt: skip
            assert not any(word in str(caught.value) for word in ITEMS), what


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"public": "public.csv"}, "must go with --restore"),
        ({"restore": "reading", "remap": True}, "must not go with --remap"),
        ({"restore": "reading", "mechanism": "madlib"}, "tem, word-exponential or santext"),
        ({"restore": "reading", "public": "empty.csv"}, "empty.csv"),
        ({"restore": "reading", "public": "blank.csv"}, "at least one word"),
        ({"restore": "reading", "public": "french.csv"}, "vocabulary's language"),
        ({"restore": "reading", "public": "public.csv", "public_column": "x"}, "--public-column"),
        ({"restore": "reading", "public": "nowhere.csv"}, "existing file"),
        ({"restore": "reading", "consistent": "file"}, "--consistent document"),
        ({"restore": "reading", "epsilon": None, "document_epsilon": 20.0, "public_length": True},
         "--public-length"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(folder: Path, options: dict, said: str) -> None:
    (folder / "empty.csv").write_text("")
    (folder / "blank.csv").write_text("text\n \n...\n")
    (folder / "french.csv").write_text("text\n" + "je voudrais un billet demain\n" * 30)
    given = dict(options)
    if "public" in given:
        given["public"] = str(folder / given["public"])
    with pytest.raises(InvalidInput, match=said):
        protect(folder, **given)


def test_odd_texts_are_read(folder: Path) -> None:
    """One word, no word, signs alone, a word that no list knows, and a text of 20,000 words."""
    rows = ["book", "", "...", "zzz qqq", "BOOK, please! me@example.org", "play thing7 " * 10_000]
    release = voile.text.protect(
        rows, epsilon=2.5, vocabulary=str(folder / "vectors.txt"), restore="reading", seed=2,
        public=str(folder / "public.csv"), mechanism="word-exponential", no_cache=True,
    )  # fmt: skip
    assert [len(row.split()) for row in release.data] == [len(row.split()) for row in rows]
    assert release.data[1:3] == ["", "..."]
    assert "[EMAIL]" in release.data[4]
    assert release.data[4].startswith(release.data[4].split(",")[0].upper())


def test_words_in_clear_are_context(folder: Path) -> None:
    """With names in clear the rest is read beside them, and they stay as they are."""
    (folder / "names.txt").write_text("\n".join(ITEMS) + "\n")
    given = {"tiers": "pii", "alpha": ("keep", "1"), "pipeline": str(folder / "names.txt")}
    drawn = protect(folder, **given)
    share = right(folder, drawn)
    read = protect(folder, restore="reading", public=str(folder / "public.csv"), **given)
    assert right(folder, read) > share + 0.02
    assert read.counts.in_clear == drawn.counts.in_clear
    for before, after in zip(
        texts_of(folder / "private.csv"),
        texts_of(read.data),
        strict=True,
    ):
        for word, new in zip(before.split(), after.split(), strict=True):
            assert word == new or word.strip(",.") not in ITEMS


def test_the_remap_takes_a_real_prior(folder: Path) -> None:
    by_list = protect(folder, remap=True)
    share = right(folder, by_list)
    by_text = protect(folder, remap=True, public=str(folder / "public.csv"))
    assert by_text.remap.prior == "the words of public.csv"
    assert "wordfreq" in by_list.remap.prior or "Zipf" in by_list.remap.prior
    assert right(folder, by_text) > share


def test_what_was_drawn_alike_is_read_alike(folder: Path) -> None:
    """One draw a distinct word: equal draws of a text come out as one word, others need not."""
    public = str(folder / "public.csv")
    drawn = texts_of(protect(folder, consistent="document").data)
    read = protect(folder, consistent="document", restore="reading", public=public)
    assert read.guarantee.granularity == "one distinct word of a document"
    for before, after in zip(drawn, texts_of(read.data), strict=True):
        found: dict[str, set[str]] = {}
        for word, new in zip(before.split(), after.split(), strict=True):
            found.setdefault(word.strip(",.").lower(), set()).add(new.strip(",.").lower())
        assert all(len(words) == 1 for words in found.values())


# ── by whoever received it ─────────────────────────────────────────────────────────────────────


def test_a_recipient_reads_what_the_holder_would_have(folder: Path) -> None:
    """From the file and its guarantee file alone: word for word what protecting with it gives."""
    public = str(folder / "public.csv")
    wanted = protect(folder, restore="reading", public=public, out=str(folder / "whole.csv"))
    drawn = protect(folder, out=str(folder / "sent.csv"))
    given = {"public": public, "vocabulary": str(folder / "vectors.txt"), "no_cache": True}
    read = voile.text.restore(str(folder / "sent.csv"), overwrite=True, **given)
    assert read.data == str(folder / "sent.restored.csv")
    assert texts_of(read.data) == texts_of(wanted.data)
    assert read.guarantee.epsilon == drawn.guarantee.epsilon
    assert read.guarantee.outside == drawn.guarantee.outside
    assert read.restored == wanted.restored
    assert "post-processing" in str(read)
    assert read.randomness == "seeded: not for release"
    said = json.loads((folder / "sent.restored.csv.guarantee.json").read_text())
    assert said["restored"]["use"] == "reading"
    again = voile.text.restore(texts_of(drawn.data), guarantee=drawn, **given)
    assert again.data == texts_of(wanted.data)
    shuffled = np.random.default_rng(2).permutation(texts_of(folder / "private.csv")).tolist()
    for private in (str(folder / "private.csv"), shuffled):
        with pytest.raises(InvalidInput, match="lengths of the released ones"):
            voile.text.restore(
                str(folder / "sent.csv"), overwrite=True, **(given | {"public": private})
            )
    with pytest.raises(InvalidInput, match="read as a whole already"):
        voile.text.restore(str(folder / "whole.csv"), **given)
    with pytest.raises(InvalidInput, match=r"there is no public\.csv\.guarantee\.json"):
        voile.text.restore(public, **given)
    with pytest.raises(InvalidInput, match="for data in memory"):
        voile.text.restore(["book thing1"], **given)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"mechanism": "madlib"}, "got madlib"),
        ({"remap": True}, "remapped already"),
        ({"keep_stopwords": True}, "stop words in clear"),
        ({"tiers": "pii", "alpha": ("0.5", "1"), "pipeline": "names.txt"}, "with tiers"),
    ],
)
def test_a_release_that_does_not_tell_its_draws_is_refused(
    folder: Path, options: dict, said: str
) -> None:
    (folder / "names.txt").write_text("\n".join(ITEMS) + "\n")
    given = dict(options)
    if "pipeline" in given:
        given["pipeline"] = str(folder / given["pipeline"])
    sent = protect(folder, out=str(folder / "odd.csv"), **given)
    with pytest.raises(InvalidInput, match=said):
        voile.text.restore(sent.data, vocabulary=str(folder / "vectors.txt"), no_cache=True)


def test_another_vocabulary_is_refused(folder: Path) -> None:
    sent = protect(folder, out=str(folder / "other.csv"))
    lines = (folder / "vectors.txt").read_text().splitlines()
    (folder / "fewer.txt").write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(InvalidInput, match="it is another"):
        voile.text.restore(sent.data, vocabulary=str(folder / "fewer.txt"), no_cache=True)


def test_words_that_are_written_with_signs_are_one_draw_again() -> None:
    from voile.text.released_file import draws_of
    from voile.text.tokens import Tokenizer

    listed = ["u.s.", "'s", "n't", "do", "o'clock", "semi-final", "u", "s", "it", "so"]
    words = voile.text.vocabulary(listed, np.arange(20.0).reshape(10, 2))
    tokenizer = Tokenizer(words)

    def read(text: str) -> list[str]:
        plan = draws_of(text, tokenizer, unknown_in_clear=False)
        given = [words.written[token.position] for token in plan.drawn]
        pieces = [p if isinstance(p, str) else text[plan.drawn[p].start : plan.drawn[p].end]
                  for p in plan.pieces]  # fmt: skip
        assert "[" in text or "".join(pieces) == text
        return given

    assert read("Do it, u.s. so.") == ["do", "it", "u.s.", "so"]
    assert read("it's so 's don't") == ["it", "'s", "so", "'s", "do", "n't"]
    assert read("semi-final o'clock [EMAIL] unk") == ["semi-final", "o'clock", "unk"]
    assert read("U S") == ["u", "s"]
