"""Made-up messages: different, repeatable, read back by our own reader, and nobody's."""

import csv
import re
from collections import Counter
from ipaddress import ip_address, ip_network

import pytest

from voile.errors import CannotWrite, InvalidInput
from voile.labels.sample_clinic import write_clinic
from voile.personal.checks import is_card, is_iban
from voile.personal.patterns import find_identifiers
from voile.text.sample_messages import COLUMNS, messages, names_and_places, write_messages

NAMED = ("PERSON", "PLACE", "STREET")


def test_messages_differ_and_can_be_had_again():
    texts = [message.text for message in messages(1000)]
    assert len(set(texts)) == 1000
    messages.cache_clear()
    assert [message.text for message in messages(1000)] == texts
    assert texts[:400] == [message.text for message in messages(400)]
    other = {message.text for message in messages(400, seed=1)}
    assert len(other & set(texts)) < 40  # a short one without a name may come twice


def test_every_class_is_there_often_enough_to_be_learned():
    rows = messages(400)
    for column, count in (("topic", 4), ("tone", 2), ("region", 4)):
        found = Counter(getattr(message, column) for message in rows)
        assert len(found) == count
        assert min(found.values()) > 0.6 * 400 / count
    assert 1 < 400 / len({message.customer for message in rows}) < 4


def test_the_private_parts_are_known_exactly():
    """Two sources must agree: the slots that were filled, and the patterns of identifiers."""
    for message in messages(2000, seed=3):
        known = [span for span in message.spans if span[2] not in NAMED]
        assert known == find_identifiers(message.text)
        ends = [0]
        for start, end, _ in message.spans:
            assert ends[-1] <= start < end <= len(message.text)
            ends.append(end)


def test_names_and_places_are_listed():
    for message in messages(500):
        for name in message.private("PERSON", "PLACE"):
            assert {part.lower() for part in name.split()} <= names_and_places()


def test_no_identifier_belongs_to_anybody():
    networks = [ip_network(n) for n in ("192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")]
    seen = Counter()
    for message in messages(3000):
        for start, end, kind in message.spans:
            part = message.text[start:end]
            seen[kind] += 1
            if kind == "EMAIL":
                assert part.endswith("@example.org")
            elif kind == "PHONE":
                assert re.fullmatch(r"\(202\) 555-01\d\d|020 7946 0\d{3}", part)
            elif kind == "IP":
                assert any(ip_address(part) in network for network in networks)
            elif kind == "CARD":
                digits = part.replace(" ", "")
                assert is_card(digits)
                assert digits in {"4111111111111111", "5555555555554444", "4242424242424242"}
            elif kind == "IBAN":
                assert is_iban(part)
    assert set(seen) == {*NAMED, "EMAIL", "PHONE", "IP", "CARD", "IBAN", "NUMBER"}


def test_another_tools_release_is_of_these_messages():
    """Between its placeholders it left the text as it was, message by message."""
    from voile.text.sample_anonymised import anonymised, write_anonymised

    assert len(anonymised()) == 200
    for message, released in zip(messages(200), anonymised(), strict=True):
        kept = [re.escape(part) for part in re.split(r"<[A-Z_]+>", released)]
        assert re.fullmatch(".+".join(kept), message.text), message.id
    with pytest.raises(CannotWrite, match="cannot write"):
        write_anonymised("/dev/null/pairs.csv")


def test_the_package_stays_small(root):
    files = (root / "src" / "voile" / "samples").glob("*")
    assert sum(file.stat().st_size for file in files if file.is_file()) < 100_000


def test_messages_as_a_file(tmp_path):
    path = write_messages(tmp_path / "messages.csv", count=50)
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS
    assert [row["text"] for row in rows] == [message.text for message in messages(50)]


@pytest.mark.parametrize("count", [0, 5001])
def test_a_count_out_of_range_is_refused(count):
    with pytest.raises(InvalidInput, match="count must be between 1 and 5000"):
        messages(count)


def test_a_file_that_cannot_be_written_is_our_error(tmp_path):
    for write in (write_messages, write_clinic):
        with pytest.raises(CannotWrite, match="cannot write"):
            write(tmp_path / "nowhere" / "file.csv")


def test_names_by_a_list(tmp_path):
    from voile.text.name_list import NameList
    from voile.text.tiers import load_pipeline

    path = tmp_path / "names.txt"
    path.write_text("Ann\n\n New York \nYork\n", encoding="utf-8")
    names = load_pipeline(str(path))
    text = "ANN's friend Annabel left New York for York."
    (marked,) = names.pipe([text])
    assert [text[e.start_char : e.end_char] for e in marked.ents] == ["ANN", "New York", "York"]
    assert {e.label_ for e in marked.ents} == {"PERSON"}
    with pytest.raises(InvalidInput, match="list of names must be a readable file"):
        load_pipeline(str(tmp_path / "absent.txt"))
    with pytest.raises(InvalidInput, match="at least one"):
        NameList(("", " "))
    (odd,) = NameList(("a.b", "c+")).pipe(["axb a.b c+"])  # a name is no pattern
    assert [(e.start_char, e.end_char) for e in odd.ents] == [(4, 7), (8, 10)]
