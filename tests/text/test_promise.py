"""What was promised, spent and kept: one value, recomputed here from the rows that were written."""

import csv
import html
import json
import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("numba", reason="the text extra is not installed")

from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import voile
from voile import text
from voile.cli.app import rooms
from voile.errors import InvalidInput, VoileError
from voile.leakage.words import epsilon_for_most_kept, kept_chances
from voile.mechanisms import word_exponential, word_truncated_exponential
from voile.mechanisms.spaces.word_remap import word_remap
from voile.text.nearest import nearest_words
from voile.text.settings import share_of
from voile.text.watched import WATCHED, read_watched
from voile.text.word_protector import TextProtector

app = rooms["text"]

WORDS = ["the", "cat", "sat", "ran", "tree", "hiv", "ann", "bob", "london", "cancer"]
NAMES = {"ann", "bob"}
ROWS = ["The cat sat and ran.", "Ann sat; Bob ran to London", "The tree", "Ann has hiv, bob cancer"]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("VOILE_CACHE", str(tmp_path / "cache"))
    rng = np.random.default_rng(2)
    lines = [f"{w} " + " ".join(f"{x:.4f}" for x in 2 * rng.normal(size=4)) for w in WORDS]
    (tmp_path / "words.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "names.txt").write_text("\n".join(sorted(NAMES)) + "\n")
    (tmp_path / "in.csv").write_text("text\n" + "".join(f'"{row}"\n' for row in ROWS))
    return tmp_path


def run(files: Path, *arguments: str) -> Result:
    options = ["--vocabulary", str(files / "words.txt"), "--pipeline", str(files / "names.txt")]
    result = CliRunner().invoke(app, ["protect", str(files / "in.csv"), *options, *arguments])
    if result.exception is not None:
        assert isinstance(result.exception, VoileError), result.exception
        raise result.exception
    return result


def call(files: Path, *arguments: str) -> str:
    return run(files, *arguments).stdout


def written(files: Path) -> dict:
    return json.loads((files / "in.protected.csv.guarantee.json").read_text())


def said_in(facts: dict) -> str:
    return "\n".join(facts["explanation"])


def column(files: Path) -> list[float]:
    with (files / "in.protected.csv").open() as file:
        return [float(row["document_epsilon"]) for row in csv.DictReader(file)]


def words_of(row: str) -> list[str]:
    return re.findall(r"\w+", row.lower())


# ── in clear ───────────────────────────────────────────────────────────────────────────────────


def test_a_tier_in_clear_is_the_first_thing_said_everywhere(files: Path) -> None:
    """Names drawn, the rest in clear: no line, file or page may speak of ε = 6, or show a tick."""
    pytest.importorskip("altair", reason="the report extra is not installed")
    shown = call(files, "--epsilon", "6", "--tiers", "pii", "--alpha", "0.3,keep",
                 "--document-column", "--report", str(files / "r.html"))  # fmt: skip
    every = [word for row in ROWS for word in words_of(row)]
    names = sum(word in NAMES for word in every)
    clear = len(every) - names
    share = math.ceil(1000 * clear / len(every)) / 10
    first = f"{share:g} % of the words stand IN CLEAR ({clear} of {len(every)})."
    levels = f"{names} names: ε = 1.8 each (per unit, proved)."
    assert shown.splitlines()[:2] == [first, levels]
    facts = written(files)
    assert facts["explanation"][:2] == [first, levels]
    assert facts["guarantee"]["epsilon"] == pytest.approx(1.8)
    assert {row["epsilon"] for row in facts["levels"]} == {facts["guarantee"]["epsilon"], None}
    assert [row["released"] for row in facts["levels"]] == ["drawn", "in clear", "in clear"]
    assert sum(facts["counts"]["in_clear"].values()) == clear
    assert (facts["counts"]["words"], facts["counts"]["drawn"]) == (len(every), names)
    spent = [1.8 * sum(word in NAMES for word in words_of(row)) for row in ROWS]
    assert column(files) == pytest.approx(spent)
    assert facts["spent"][0]["largest"] == pytest.approx(max(spent))
    page = (files / "r.html").read_text()
    assert first in page
    assert "✓" not in page
    assert "ε = 6" not in page + shown + json.dumps(facts, ensure_ascii=False)
    assert page.index(first) < page.index(levels)


@pytest.mark.parametrize("option", [["--keep-stopwords"], ["--unknown", "keep"]])
def test_words_that_are_kept_are_counted(files: Path, option: list[str]) -> None:
    shown = call(files, "--epsilon", "3", *option)
    facts = written(files)
    assert " of the words stand IN CLEAR (" in shown.splitlines()[0]
    every = [word for row in ROWS for word in words_of(row)]
    stop = [word for word in every if word in {"the", "and", "to", "has"}]
    unknown = [word for word in every if word not in WORDS]
    expected = len(unknown) if "keep" in option else sum(word in WORDS for word in stop)
    assert sum(facts["counts"]["in_clear"].values()) == expected > 0
    assert facts["counts"]["drawn"] + expected == facts["counts"]["words"] == len(every)


def test_without_anything_in_clear_nothing_is_said_to_be(files: Path) -> None:
    shown = call(files, "--epsilon", "3")
    assert shown.splitlines()[0] == "18 words: ε = 3 each (per unit, proved)."
    assert "IN CLEAR" not in shown
    assert written(files)["counts"]["in_clear"] == {}


def test_a_dry_run_states_the_law_of_each_tier(files: Path) -> None:
    shown = call(files, "--epsilon", "6", "--tiers", "pii,poii", "--alpha", "0.3,0.5,keep",
                 "--dry-run")  # fmt: skip
    assert shown.splitlines()[:2] == [
        "IN CLEAR would stand: other words.",
        "Names: ε = 1.8 each; words close to names: ε = 3 each (per unit, proved).",
    ]
    assert not (files / "in.protected.csv").exists()
    assert ROWS[0] not in shown
    previewed = call(files, "--epsilon", "6", "--tiers", "pii,poii", "--alpha", "0.3,0.5,keep",
                     "--dry-run", "--preview", "1")  # fmt: skip
    assert f"before: {ROWS[0]}" in previewed
    assert "do not hand this sample on" in previewed
    assert ROWS[1] not in previewed
    shown = call(files, "--epsilon", "6", "--tiers", "pii", "--alpha", "0.3", "--dry-run")
    assert shown.splitlines()[0] == (
        "Names: ε = 1.8 each; other words: ε = 6 each (per unit, proved)."
    )


# ── spent ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("options", "epsilons", "longest"),
    [
        (["--epsilon", "3"], (3.0, 3.0), None),
        (["--epsilon", "3", "--longest", "3"], (3.0, 3.0), 3),
        (["--epsilon", "2", "--tiers", "pii", "--alpha", "3,0.5"], (6.0, 1.0), None),
        (["--document-epsilon", "10", "--longest", "5"], (2.0, 2.0), 5),
        (["--document-epsilon", "10", "--longest", "5", "--tiers", "pii", "--alpha", "5,5"],
         (2.0, 2.0), 5),
        (["--document-epsilon", "10", "--longest", "4", "--tiers", "pii", "--alpha", "0.2,1"],
         (0.5, 2.5), 4),
        (["--document-epsilon", "10", "--longest", "4", "--tiers", "pii", "--alpha", "4,2"],
         (2.5, 1.25), 4),
        (["--document-epsilon", "12", "--public-length"], None, None),
    ],
)  # fmt: skip
def test_what_was_spent_is_what_was_drawn(
    files: Path, options: list[str], epsilons: tuple[float, float] | None, longest: int | None
) -> None:
    shown = call(files, *options, "--document-column")
    facts = written(files)
    spent = []
    for row in ROWS:
        words = words_of(row)[:longest]
        if epsilons is None:
            spent.append(12.0)
        else:
            spent.append(sum(epsilons[0] if word in NAMES else epsilons[1] for word in words))
    assert column(files) == pytest.approx(spent, rel=1e-12)
    ordered, half = sorted(spent), facts["spent"][0]
    assert half["largest"] == pytest.approx(ordered[-1])
    assert half["median"] == pytest.approx(ordered[1])
    if facts["document_epsilon"] is not None:
        assert max(Fraction(value) for value in column(files)) <= Fraction(
            facts["document_epsilon"]
        )
        assert half["largest"] <= facts["document_epsilon"]
    counted = sum(len(words_of(row)[:longest]) for row in ROWS)
    assert facts["counts"]["drawn"] == sum(row["drawn"] for row in facts["levels"]) == counted
    if epsilons is not None:
        got = {row["epsilon"] for row in facts["levels"] if row["drawn"]}
        assert sorted(got) == pytest.approx(sorted(set(epsilons)))
        assert facts["guarantee"]["epsilon"] == max(row["epsilon"] for row in facts["levels"])
        for epsilon in set(epsilons):
            assert f"ε = {epsilon:g} each" in shown.splitlines()[0]
    else:
        assert "ε = 12 for each document in all" in shown.splitlines()[0]
    assert f"{ordered[-1]:g} at most" in shown


@given(
    budget=st.floats(1e-3, 1e4), words=st.integers(1, 10**6), factor=st.floats(1.0, 50.0)
)  # fmt: skip
def test_a_share_of_a_budget_never_exceeds_it(budget: float, words: int, factor: float) -> None:
    epsilon = share_of(budget, words, factor=factor)
    assert words * Fraction(factor * epsilon) <= Fraction(budget)
    assert words * factor * epsilon == pytest.approx(budget, rel=1e-12)


def test_a_length_that_is_cut_is_the_length_that_counts() -> None:
    """`longest` with a law for each length: the budget is split over the words that remain."""
    words = text.vocabulary(WORDS, np.random.default_rng(4).normal(size=(len(WORDS), 4)) * 3)
    asked: list[int] = []

    def of_length(length: int):  # type: ignore[no-untyped-def]
        asked.append(length)
        return word_truncated_exponential(words.embedding, epsilon=12.0 / length)

    blur = TextProtector(words, (of_length(1),), longest=2, law_of_length=of_length)
    asked.clear()
    texts = ["the cat sat ran", "the cat", "tree", "!"]
    answers = blur.release_texts(texts, voile.seeded_rng(1))
    assert [a.epsilon for a in answers] == [12.0, 12.0, 12.0, 0.0]  # type: ignore[union-attr]
    assert set(asked) == {1, 2}
    plans = blur.plan(texts)
    assert [blur.costs(blur.draws(plan)) for plan in plans] == [  # type: ignore[arg-type]
        ((6.0, 0.0, 2),), ((6.0, 0.0, 2),), ((12.0, 0.0, 1),), ()
    ]  # fmt: skip


# ── distances that occur ───────────────────────────────────────────────────────────────────────


def test_nearest_words_are_those_of_the_whole_table() -> None:
    words = text.vocabulary(
        [f"w{i}" for i in range(300)], np.random.default_rng(1).normal(size=(300, 5))
    )
    space = words.embedding.space
    table = np.array(space.distances())
    np.fill_diagonal(table, np.inf)
    nearest = np.sort(table.min(axis=1))
    found = nearest_words(words.embedding.metric, len(words.embedding))
    assert found.looked_at == 301
    assert (found.five_percent, found.median) == (nearest[15], nearest[150])
    said = text.protector(words, epsilon=3.0).explain()
    assert f"Two words {nearest[150]:g} unit apart" in said
    assert "Two words 1 unit apart" not in said


def test_the_promise_speaks_of_distances_that_occur(files: Path) -> None:
    shown = call(files, "--epsilon", "3")
    facts = written(files)
    nearest = facts["nearest"]
    assert "1 unit apart" not in shown + said_in(facts)
    assert f"Nearest words are typically {nearest['median']:.3g} units apart" in shown
    factor = math.exp(3 * nearest["median"])
    assert facts["levels"][0]["median"]["factor"] >= factor
    assert facts["levels"][0]["median"]["factor"] == pytest.approx(factor)
    (said,) = re.findall(r"at most e\^([\d.]+) = ([\d.,]+)×; for one", shown)
    assert float(said[0]) >= 3 * nearest["median"]
    assert float(said[1].replace(",", "")) >= factor
    assert said[0] in said_in(facts)


def test_the_page_says_the_same_odds_and_the_same_spending(files: Path) -> None:
    pytest.importorskip("altair", reason="the report extra is not installed")
    shown = call(files, "--epsilon", "2.3141", "--report", str(files / "r.html"))
    page = (files / "r.html").read_text()
    (odds,) = re.findall(r"at most e\^[\d.]+ = ([\d.,]+×); for one", shown)
    assert f"grows to {odds} for two words" in page
    (largest,) = re.findall(r"([\d.]+) at most \(", shown)
    assert f"{largest} for all" in page
    assert float(largest) >= written(files)["spent"][0]["largest"]
    first, verdict, *odds = shown.splitlines()[:4]
    for line in (first, verdict.removeprefix("✓ Holds. "), *odds):
        assert html.escape(line) in page


def test_at_most_is_never_rounded_down(files: Path) -> None:
    """e^0.04 is not 1×."""
    shown = call(files, "--epsilon", "0.01", "--dry-run")
    assert "= 1×" not in shown
    assert re.search(r"= 1\.0\d+×", shown)


# ── what survives ──────────────────────────────────────────────────────────────────────────────


def test_the_words_kept_most_are_those_of_the_law(files: Path) -> None:
    (files / "watch.txt").write_text("Cat\ntree\ncat\nwalrus\n")
    shown = call(files, "--epsilon", "3", "--watch", str(files / "watch.txt"))
    facts = written(files)
    own, *classes = facts["levels"][0]["watched"]
    assert (own["kind"], own["looked_at"], own["unknown"]) == ("your list", 2, 1)
    assert [kind["kind"] for kind in classes] == list(WATCHED)
    words = text.read_vocabulary(files / "words.txt")
    law = word_truncated_exponential(words.embedding, epsilon=3.0)
    for kind in (own, *classes):
        for word, chance in kind["most"]:
            place = words.positions[word]
            assert chance == pytest.approx(float(law.exact_row(place)[place]), rel=1e-9)
    illness = next(kind for kind in classes if kind["kind"] == "illness")
    assert {word for word, _ in illness["most"]} == {"hiv", "cancer"}
    assert illness["most"][0][1] >= illness["most"][1][1]
    assert f"your list: {own['most'][0][0]} " in shown


def test_a_remap_counts_all_draws_that_come_out_as_the_word() -> None:
    vectors = np.random.default_rng(3).normal(size=(40, 3))
    words = text.vocabulary([f"w{i}" for i in range(40)], vectors)
    law = word_remap(word_exponential(words.embedding, epsilon=2.0), prior=words.frequencies())
    places = np.arange(41)
    exact = np.exp(np.diag(law.log_prob(places, places)))
    assert kept_chances(law, places) == pytest.approx(exact, abs=1e-12)


def test_max_kept_holds_for_the_worst_watched_word(files: Path) -> None:
    call(files, "--max-kept", "0.3")
    facts = written(files)
    worst = max(c for kind in facts["levels"][0]["watched"] for _, c in kind["most"])
    assert 0.29 < worst <= 0.3
    call(files, "--max-kept", "0.3", "--tiers", "pii", "--alpha", "2,1", "--overwrite")
    tiers = written(files)
    assert tiers["guarantee"]["epsilon"] == pytest.approx(facts["guarantee"]["epsilon"])


def test_watched_words_that_never_meet_the_law_are_kept_always(files: Path) -> None:
    (files / "own.txt").write_text("the\nzzyzx\n")
    for options, kept in (
        ([], {}),
        (["--keep-stopwords"], {"the": 1.0}),
        (["--unknown", "keep"], {"zzyzx": 1.0}),
    ):
        shown = call(files, "--epsilon", "1", "--watch", str(files / "own.txt"), "--overwrite",
                     *options)  # fmt: skip
        own = written(files)["levels"][0]["watched"][0]
        assert {word: chance for word, chance in own["most"] if chance == 1} == kept
        assert own["unknown"] == 1
        assert " watched words are outside the vocabulary." in shown


@given(st.integers(0, 50), st.sampled_from([0.001, None]))
def test_a_words_chance_to_be_kept_grows_with_epsilon(seed: int, beta: float | None) -> None:
    vectors = np.random.default_rng(seed).normal(size=(30, 3))
    words = text.vocabulary([f"w{i}" for i in range(30)], vectors)
    places = np.arange(0, 31, 3)
    build = word_truncated_exponential if beta else word_exponential
    chances = [
        kept_chances(build(words.embedding, epsilon=e), places) for e in (0.1, 0.5, 1.0, 3.0, 9.0)
    ]
    assert (np.diff(np.array(chances), axis=0) >= -1e-15).all()
    epsilon = epsilon_for_most_kept(words.embedding, places, most=0.2, beta=beta)
    kept = [
        kept_chances(build(words.embedding, epsilon=e), places).max()
        for e in (epsilon, 1.02 * epsilon)
    ]
    assert kept[0] <= 0.2 < kept[1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--max-kept", "2"], "--max-kept must be between 0 and 1"),
        (["--max-kept", "0.01"], "no epsilon keeps"),
        (["--max-kept", "0.3", "--mechanism", "madlib"], "--max-kept must go with tem"),
        (["--max-kept", "0.3", "--remap"], "without --remap"),
        (["--max-kept", "0.3", "--tiers", "pii", "--alpha", "1,keep"], "without a level in clear"),
        (["--max-kept", "0.3", "--keep-stopwords"], "without --keep-stopwords"),
        (["--max-kept", "0.3", "--unknown", "keep"], "without --keep-stopwords and --unknown keep"),
        (["--max-kept", "0.3", "--epsilon", "1"], "give one of"),
        (["--epsilon", "1e308"], "at most 1,000,000"),
        (["--epsilon", "9e5", "--tiers", "pii", "--alpha", "2,1"], "at most 1,000,000"),
        (["--document-epsilon", "1e308", "--public-length"], "at most 1,000,000"),
        (["--epsilon", "1", "--watch", "nowhere.txt"], "--watch must name a list"),
    ],
)
def test_wrong_usage(files: Path, options: list[str], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        call(files, *options)


def test_a_list_is_a_word_a_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Ann Smith\nbob\n")
    with pytest.raises(InvalidInput, match="1 lines with several") as refused:
        read_watched(tmp_path / "a.txt")
    assert "Smith" not in str(refused.value)
    (tmp_path / "b.txt").write_text("\n")
    with pytest.raises(InvalidInput, match="an empty one"):
        read_watched(tmp_path / "b.txt")
    (tmp_path / "c.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidInput, match="not UTF-8"):
        read_watched(tmp_path / "c.txt")
