"""A rewriter or an attack of the user's own takes part as any other, from Python and by name."""

import csv
import json
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import voile
from judges import knows
from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput
from voile.metrics import discrete
from voile.names import Named
from voile.progress import heard_by
from voile.text.own import own_rewriter

TEXTS = [f"a {mood} train to {town} at {n}" for mood in ("good", "bad")
         for town in ("rome", "oslo", "bern") for n in range(10)]  # fmt: skip
LABELS = [text.split()[1] for text in TEXTS]
QUICK = {"attacks": ("tf-idf", "overlap", "shape"), "temperature": 0.0, "trials": 300}


def hide(text: str) -> str:
    return " ".join("x" for _ in text.split())


def keep(text):
    return text


def coin(text: str, *, epsilon: float, rng) -> str:
    stays = np.exp(epsilon) / (1 + np.exp(epsilon))
    return " ".join(word if rng.random() < stays else "x" for word in text.split())


def all_at_once(texts):
    return [hide(text) for text in texts]


def annotated(rows: list[str]) -> list[str]:
    return all_at_once(rows)


class Coin:
    """A class: made for each epsilon, and it says what it promises."""

    def __init__(self, epsilon):
        self.guarantee = voile.Guarantee(epsilon, discrete(), "one word", "proved")

    def release(self, texts, rng):
        return [coin(text, epsilon=self.guarantee.epsilon, rng=rng) for text in texts]


class Fixed:
    """An object without an epsilon; its second parameter has a name of its own."""

    def release(self, texts, generator):
        assert generator.random() < 1
        return all_at_once(texts)


class Exiting:
    def release(self, texts, rng):
        sys.exit(texts[0])


def drawn(thing, epsilon=None):
    made = own_rewriter(Named("it", given=thing), epsilon)
    return made.rewrite(["one two", "three"], seeded_rng(1))


def test_every_shape_of_ones_own():
    for thing in (hide, all_at_once, annotated, Fixed(), Fixed):
        assert drawn(thing) == ["x x", "x"], thing
    assert drawn(coin, 50.0) == drawn(Coin, 50.0) == ["one two", "three"]
    assert drawn(Coin(50.0)) == ["one two", "three"]
    assert drawn(lambda text: text) == ["one two", "three"]


def test_what_does_not_rewrite_is_refused_without_a_word_of_the_texts():
    def failing(text):
        raise RuntimeError(f"cannot read {text}")

    for thing, message in (
        (failing, r"it failed with RuntimeError \(line \d+ of test_own.py\)"),
        (lambda text: [text], "must give a str for each text, got list"),
        (lambda texts: texts[:1], "releases of it must be one for each of 2, got 1"),
        (lambda text: None, "got NoneType"),
        (lambda texts: 3, "must give a list of texts, got a int"),
        (lambda texts: "one two", "must give a list of texts, got a str"),
        (lambda texts: {"one two": 1}, "must give a list of texts, got a dict"),
        (lambda texts: (1 / 0 for _ in texts), "it failed with ZeroDivisionError"),
        (lambda text: sys.exit(text), "it failed with SystemExit"),
        (Exiting, "it failed with SystemExit"),
        (3, r"must be a function, or have release\(texts, rng\)"),
    ):
        with pytest.raises(InvalidInput, match=message) as problem:
            drawn(thing)
        assert "one two" not in str(problem.value)


def test_it_stands_in_the_table_beside_a_mechanism():
    found = voile.text.compare(
        TEXTS, mechanisms=(hide, keep, coin, Coin), epsilon=(0.1, 9.0), label=LABELS, **QUICK
    )
    cells = {(cell.mechanism, cell.epsilon): cell for cell in found.cells}
    assert set(cells) == {
        ("hide", None), ("keep", None), ("coin", 0.1), ("coin", 9.0), ("Coin", 0.1), ("Coin", 9.0),
    }  # fmt: skip
    assert cells["hide", None].worst.lower == 0.0
    assert cells["keep", None].worst.lower > 2
    assert cells["keep", None].f1 > cells["hide", None].f1
    assert cells["coin", 0.1].worst.lower < cells["coin", 9.0].worst.lower
    assert {cell.basis for (name, _), cell in cells.items() if name != "Coin"} == {"none"}
    claimed = cells["Coin", 9.0]
    assert (claimed.basis, claimed.granularity) == ("claimed", "one word")
    assert claimed.text_epsilon == pytest.approx(9.0 * 7)
    assert found.own == ("hide", "keep", "coin", "Coin")
    told = str(found)
    assert "hide is your own: it promises nothing, and nothing is proved of it." in told
    assert "Coin is your own: what it promises is claimed, and nothing here has checked it." in told


def test_epsilon_is_needed_only_by_what_takes_one():
    found = voile.text.compare(TEXTS, mechanisms=(hide, keep), **QUICK)
    assert [cell.epsilon for cell in found.cells] == [None, None]
    for mechanisms in (("tem", hide, coin), (Coin,)):
        with pytest.raises(InvalidInput, match=r"at least one number for (tem, coin|Coin), got"):
            voile.text.compare(TEXTS, mechanisms=mechanisms, **QUICK)


def test_an_attack_that_needs_the_law_has_a_dash():
    found = voile.text.compare(
        TEXTS, mechanisms=hide, epsilon=1.0, temperature=0.0, trials=100,
        attacks=("overlap", "likelihood", "internal"),
    )  # fmt: skip
    assert [s.attack for s in found.cells[0].shown] == ["overlap"]
    with pytest.raises(InvalidInput, match="attacks must hold one that can read hide"):
        voile.text.compare(
            TEXTS, mechanisms=hide, epsilon=1.0, temperature=0.0, trials=100, attacks="likelihood"
        )


class Longest:
    """An attack of one's own: the longer text, whatever was released."""

    note = "it looks at lengths alone"

    def scores(self, pool, sets, releases):
        return np.array([[len(pool[i]) for i in row] for row in sets.tolist()])


def test_an_attack_of_ones_own():
    quick = QUICK | {"attacks": ("overlap", Longest)}
    found = voile.text.compare(TEXTS, mechanisms=keep, epsilon=1.0, **quick)
    assert [s.attack for s in found.cells[0].shown] == ["overlap", "Longest", "stack"]
    assert found.cells[0].shown[1].lower == 0.0
    assert "keep, Longest: it looks at lengths alone." in str(found)
    again = voile.text.calibrate(TEXTS, released=TEXTS, attacks=(Longest(),), temperature=0.0)
    assert [a.attack for a in again.attacks] == ["Longest"]


def test_calibrate_audits_a_function():
    found = voile.text.calibrate(TEXTS, command=keep, claim=1.0, **QUICK)
    assert found.violated
    assert not voile.text.calibrate(TEXTS, command=all_at_once, claim=1.0, **QUICK).violated
    with pytest.raises(InvalidInput, match="a quote is left open"):
        voile.text.calibrate(TEXTS, command="cat 'x", **QUICK)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with open("texts.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "label"])
        rows.writerows(zip(TEXTS, LABELS, strict=True))
    (tmp_path / "mine.py").write_text(
        "def privatise(text: str, epsilon: float, rng) -> str:\n"
        "    return ' '.join(w if rng.random() < epsilon / 10 else 'x' for w in text.split())\n"
    )
    return tmp_path


def invoke(*words):
    from voile.cli.app import app

    return CliRunner().invoke(app, ["text", "compare", "texts.csv", *map(str, words)])


WORDS = ("--mechanisms", "mine=./mine.py:privatise", "--epsilon", "1,9", "--label", "label",
         "--attacks", "overlap,shape", "--temperature", "0", "--trials", "200")  # fmt: skip


def test_a_call_from_python_is_the_command(folder):
    done = invoke(*WORDS, "--target-epsilon-emp", 9, "--json")
    assert done.exit_code == 0, (done.output, done.exception)
    called = voile.text.compare(
        "texts.csv", mechanisms=("mine=./mine.py:privatise",), epsilon=(1.0, 9.0), label="label",
        attacks=("overlap", "shape"), temperature=0.0, trials=200, target_epsilon_emp=9.0,
    ).to_dict()  # fmt: skip
    printed = json.loads(done.output)
    for cell in (*printed["cells"], *called["cells"]):
        cell["seconds"] = cell["rows_per_second"] = 0
    assert printed == json.loads(json.dumps(called))
    assert printed["own"] == ["mine"]
    assert printed["chosen"]["mechanism"] == "mine"


def test_frames_give_what_files_give(folder):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv("texts.csv")
    options = {"mechanisms": hide, "epsilon": 1.0, **QUICK}
    told = [
        voile.text.compare(data, label=label, **options).cells[0].f1
        for data, label in (
            ("texts.csv", "label"), (frame, "label"), (frame["text"], frame["label"]),
            (TEXTS, LABELS),
        )
    ]  # fmt: skip
    assert len(set(told)) == 1


def test_a_file_of_ones_own_travels_to_other_processes_and_is_kept(folder):
    alone = json.loads(invoke(*WORDS, "--json").output)["cells"]
    two = json.loads(invoke(*WORDS, "--jobs", 2, "--json").output)["cells"]
    assert [cell["shown"] for cell in two] == [cell["shown"] for cell in alone]
    with pytest.raises(InvalidInput, match="cannot travel to other processes"):
        voile.text.compare(TEXTS, mechanisms=lambda text: text, epsilon=1.0, jobs=2, **QUICK)


def test_releases_of_code_that_changed_are_made_anew(folder):
    pytest.importorskip("vl_convert")
    assert invoke(*WORDS, "--out", "out").exit_code == 0
    kept = set((folder / "out/releases").iterdir())
    assert invoke(*WORDS, "--out", "out").exit_code == 0
    assert set((folder / "out/releases").iterdir()) == kept
    with (folder / "mine.py").open("a") as file:
        file.write("# changed\n")
    assert invoke(*WORDS, "--out", "out").exit_code == 0
    assert len(set((folder / "out/releases").iterdir())) == 2 * len(kept)
    files = set((folder / "out/releases").iterdir())
    voile.text.compare(TEXTS, mechanisms=hide, epsilon=1.0, out="out", **QUICK)
    assert set((folder / "out/releases").iterdir()) == files, "nothing identifies a function"
    for name in ("comparison.json", "comparison.csv"):
        assert (folder / "out" / name).stat().st_mode & 0o077 == 0


def test_a_report_tells_no_folder_of_ones_own_file(folder):
    pytest.importorskip("vl_convert")
    place = f"mine={folder}/mine.py:privatise"
    done = invoke("--mechanisms", place, *WORDS[2:], "--report", "r.html")
    assert done.exit_code == 0, (done.output, done.exception)
    page = (folder / "r.html").read_text()
    assert "mine=mine.py:privatise" in page
    assert str(folder) not in page


def test_a_report_of_texts_in_memory_spells_none_of_them(folder):
    found = voile.text.compare(TEXTS, mechanisms=(hide, keep), epsilon=1.0, label=LABELS, **QUICK)
    told = found.report().provenance
    assert told.command.startswith("voile text compare '<list>'") or "<list>" in told.command
    assert "<hide>,<keep>" in told.command
    assert not any(text in repr(told) for text in TEXTS)
    assert "good" not in told.command
    assert told.digests == ()


def test_charts_without_any_epsilon(folder):
    pytest.importorskip("altair")
    found = voile.text.compare(TEXTS, mechanisms=(hide, keep), epsilon=1.0, label=LABELS, **QUICK)
    charts = found.report().all_charts()
    assert [chart.name for chart in charts] == ["frontier"]


def test_long_work_tells_how_far_it_is():
    heard = []
    with heard_by(heard.append):
        voile.text.compare(TEXTS, mechanisms=(hide, keep), epsilon=1.0, **QUICK)
        voile.text.calibrate(TEXTS, command=keep, **QUICK)
    told = {(step.what, step.total) for step in heard}
    assert ("hide: trials released", 300) in told
    assert ("mechanisms and epsilons done", 2) in told
    assert ("trials released", 300) in told


def test_the_judges_key_stands_in_no_report_and_no_recipe(folder, monkeypatch):
    from voile.attackers import endpoint as room

    asked = {}

    def endpoint(url, *, model, key, originals_leave_this_machine):
        asked.update(key=key, leave=originals_leave_this_machine)
        return lambda prompts: [knows(prompt) for prompt in prompts]

    monkeypatch.setattr(room, "endpoint", endpoint)
    monkeypatch.setenv("VOILE_JUDGE_KEY", "hunter2-secret")
    words = (*WORDS, "--judge-url", "http://127.0.0.1:1/v1", "--judge-model", "m")
    done = invoke(*words, "--save-recipe", "recipe.toml", "--json")
    assert done.exit_code == 0, (done.output, done.exception)
    assert asked == {"key": "hunter2-secret", "leave": False}
    assert "hunter2" not in done.output + (folder / "recipe.toml").read_text()
    assert "judge_url" in (folder / "recipe.toml").read_text()
    done = invoke(*words, "--jobs", 2)
    assert "a judge answers one process" in str(done.exception)
    with_password = ("--judge-url", "https://me:hunter2@host/v1", "--judge-model", "m")
    done = invoke(*WORDS, *with_password, "--save-recipe", "other.toml")
    assert "hunter2" not in str(done.exception) + done.output
    assert not (folder / "other.toml").exists()
