"""A name that was found once in a scope: where else it is replaced, and what is no name."""

import csv
from pathlib import Path

import pytest

pytest.importorskip("numba", reason="the text extra is not installed")
pytest.importorskip("faker", reason="the pseudonyms extra is not installed")
pytest.importorskip("cryptography", reason="the pseudonyms extra is not installed")

from voile import text
from voile.text.name_list import Found
from voile.text.names_again import names_again
from voile.text.standins import StandIns

NAMES = frozenset({"will", "mark", "li", "okonkwo"})


def again(written: str, language: str = "en") -> list[str]:
    return [f"{written[a:b]} {a}" for a, b, _ in names_again(written, [], NAMES, language).found]


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("I saw Will tomorrow. Call Will.", ["Will 6", "Will 26"]),
        ("Then Mark left. MARK!", ["Mark 5", "MARK 16"]),
        ("WILL you come?", ["WILL 0"]),
        ("Will, come! Thanks,\nMark\nMark's car", ["Will 0", "Mark 20", "Mark 25"]),
        ("Dr. Mark came, J. Will too.", ["Mark 4", "Will 18"]),
        ("a call with Li; Li said", ["Li 12", "Li 16"]),
        ("OKONKWO CAME", ["OKONKWO 0"]),
    ],
)
def test_a_name_that_is_a_word_too_is_one_where_a_capital_says_so(written, found) -> None:
    assert again(written) == found


@pytest.mark.parametrize(
    "written",
    ["Will you come?", "Yes. Will you?", "Hi,\n- Will you?", "No!\n\n“Mark my words", "I will",
     "I WILL COME, MARK", "mark it", "Willing Marks"],
)  # fmt: skip
def test_what_a_capital_does_not_tell_is_left(written: str) -> None:
    assert again(written) == []


def test_what_is_left_is_given() -> None:
    """A place where a name may stand, and none where the word is written small."""
    written = "Will you call Will? Mark it. I will mark it, OK?"
    assert names_again(written, [], NAMES, "en").left == [(0, 4, "PERSON"), (20, 24, "PERSON")]


def test_words_of_another_language_are_words_there() -> None:
    found = names_again("Petit à petit. Le Petit est là.", [], frozenset({"petit"}), "fr").found
    assert [(s.start, s.end) for s in found] == [(18, 23)]


class Marks:
    """A pipeline that marks what it is told to."""

    def __init__(self, *found: Found) -> None:
        self.ents = found

    def pipe(self, texts):
        for _ in texts:
            yield self


@pytest.mark.parametrize("called", ["IBAN", "SSN", "VIN", "PIN", "VAT ID", "MAC", "IP"])
def test_what_an_identifier_is_called_is_no_company_or_place(called: str) -> None:
    written = f"My {called} is known"
    for label in ("ORG", "LOC"):
        ((spans, _),) = StandIns(Marks(Found(3, 3 + len(called), label))).named([written])
        assert spans == []
    for other, label in (("ACME", "ORG"), ("Vin", "PERSON")):
        ((spans, _),) = StandIns(Marks(Found(3, 3 + len(other), label))).named([f"My {other} is"])
        assert len(spans) == 1


ROWS = [
    ("c1", "Will Smith came by. I saw Will tomorrow. Call Will. Will you?"),
    ("c1", "Then Will left. WILL!"),
    ("c2", "I will ask Will."),
]


def test_a_release_leaves_no_name_that_it_has_found_and_they_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOILE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    Path("names.txt").write_text("Will Smith\n")
    Path("words.txt").write_text("tea 0.0 1.0\ncoffee 1.0 0.0\n")
    with Path("in.csv").open("w") as file:
        csv.writer(file).writerows([("who", "text"), *ROWS])
    done = text.protect(
        "in.csv", pseudonyms=True, consistent="person", person="who", drop=("who",),
        vocabulary="words.txt", pipeline="names.txt", signs="keep", keep_mapping="names.map",
        mapping_key="names.key", batch_rows=1,
    )  # fmt: skip
    with Path("in.protected.csv").open() as file:
        sent = [row["text"] for row in csv.DictReader(file)]
    assert "Will" not in sent[0].replace("Will you?", "")
    assert sent[0].endswith(" Will you?")
    assert "will" not in sent[1].lower()
    assert sent[2] == ROWS[2][1]  # another person's, in whose rows no Will was found
    assert any("at the head of a sentence" in said for said in done.guarantee.outside)
    back = text.reveal(sent, mapping="names.map", mapping_key="names.key").data
    assert back == [row for _, row in ROWS]


def test_words_that_are_left_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the report and in the guarantee file: how many places, out of what was released."""
    monkeypatch.chdir(tmp_path)
    Path("names.txt").write_text("Will Okonkwo\n")
    rows = ["Will Okonkwo came. Will you? I saw Will.", "WILL YOU COME", "No more."]
    release = text.protect(rows, pseudonyms=True, pipeline="names.txt", consistent="file")
    assert release.seen is not None
    assert release.seen.left_at_heads == 2
    assert "2 words at the head of a sentence" in str(release)
    assert release.data[0].count("Will ") == 1  # “Will you?”
    assert release.data[1:] == rows[1:]
    again = text.protect(rows[2:], pseudonyms=True, pipeline="names.txt")
    assert "head of a sentence, or" not in str(again)
