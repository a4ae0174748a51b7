"""Games whose truth is known and whose trials hang together: planted, and what is said of them."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import voile
from voile.audit.games import plan_of_pairs
from voile.cli.app import app
from voile.errors import InvalidInput

QUICK = {"attacks": ("overlap",), "temperature": 0.0}
EPSILON = 1.0
STAYS = np.exp(EPSILON) / (1 + np.exp(EPSILON))


def keep(text):
    return text


def coin(text, rng):
    """Of a text that begins with x or y: whether it does, told rightly with odds e^ε."""
    return text[0] if rng.random() < STAYS else "yx"["xy".index(text[0])]


class Matching:
    """An attack of one's own: every text of a set is the source once, so releases are matched."""

    def scores(self, pool, sets, releases):
        alike = [[pool[i][0] == release for i in row] for row, release in zip(sets, releases)]  # noqa: B905
        scores = np.array(alike, dtype=float)
        seen = {}
        for row, members in enumerate(map(tuple, sets.tolist())):
            other = seen.setdefault(members, row)
            if other != row:
                lead = scores[other] @ [1, -1] - scores[row] @ [1, -1]
                scores[other], scores[row] = [lead, -lead], [-lead, lead]
        return scores


def test_an_attack_that_reads_a_set_together_shows_no_more_than_epsilon():
    """Matched, two coins that fell apart are right with odds e^{2ε}: it showed 1.4 to 1.8 of 1."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        texts = [f"{'xy'[n % 2]} {n}" for n in range(4000)]
        found = voile.text.calibrate(
            texts,
            released=[coin(text, rng) for text in texts],
            claim=EPSILON,
            seed=seed,
            **QUICK | {"attacks": (Matching,)},
        )
        assert not found.violated
        assert 0.3 < found.strongest.at_least < EPSILON


@pytest.mark.parametrize("candidates", [2, 3])
def test_a_turn_holds_one_trial_of_each_set(candidates):
    texts = [f"text {n}" for n in range(20)] + ["text 3"] * 4
    game, _ = plan_of_pairs(
        texts, texts, candidates=candidates, temperature=0.0, rng=voile.seeded_rng(1)
    )
    assert sorted(np.concatenate(game.turns).tolist()) == list(range(len(game)))
    assert len(game.turns) == candidates
    for turn in game.turns:
        assert len(np.unique(game.groups[turn])) == len(turn) == len(game) // candidates


class Remembering:
    """It draws for each text once, and gives the same from then on."""

    def __init__(self):
        self.held = {}

    def release(self, texts, rng):
        return [self.held.setdefault(text, coin(text, rng)) for text in texts]


def test_what_never_releases_a_text_in_two_ways_is_told_apart_from_what_draws_anew():
    """Two texts, one coin each: where both fell right, a thousand trials are right."""
    texts = ["x", "y"]
    told = "let it draw anew each time"
    violated = 0
    for seed in range(8):
        found = voile.text.calibrate(
            texts, command=Remembering(), claim=EPSILON, trials=1000, seed=seed, **QUICK
        )
        assert found.alike
        assert told in str(found)
        violated += found.violated
    assert violated, "the coins fell right once"
    fresh = voile.text.calibrate(texts, command=coin, claim=EPSILON, trials=1000, **QUICK)
    assert not fresh.alike
    assert told not in str(fresh)
    once = voile.text.calibrate(texts, released=texts, **QUICK)
    assert not once.alike, "released once each: nothing tells"
    assert voile.text.calibrate(texts * 9, released=texts * 9, **QUICK).alike
    table = voile.text.compare(texts, mechanisms=(Remembering(), coin), trials=1000, **QUICK)
    assert [cell.alike for cell in table.cells] == [True, False]
    assert str(table).count(told) == 1


def test_two_texts_are_too_few_to_weigh_attacks_on():
    found = voile.text.calibrate(
        ["a b", "c d"], released=["a b", "c d"], **QUICK | {"attacks": ("overlap", "shape")}
    )
    assert [one.attack for one in found.attacks] == ["overlap", "shape"]


def test_pairs_of_equal_length_are_compared_if_that_is_asked():
    texts = [" ".join("ab"[: 1 + n % 2]) + f" {n}" for n in range(40)]
    blank = ["x" * len(text.split()) for text in texts]
    game, _ = plan_of_pairs(
        texts, blank, temperature=0.0, equal_length=True, rng=voile.seeded_rng(1)
    )
    lengths = np.array([len(text.split()) for text in game.pool])
    assert (lengths[game.sets] == lengths[game.sets[:, :1]]).all()
    assert len(game) == 40
    found = voile.text.calibrate(texts, released=texts, equal_length=True, **QUICK)
    assert "out of 40 different ones; each release serves once" in str(found)
    with pytest.raises(InvalidInput, match="have as many words"):
        voile.text.calibrate(["a", "b c"], released=["a", "b"], equal_length=True, **QUICK)


def test_a_release_whose_rows_share_draws_is_no_file_of_pairs(tmp_path):
    """Rows of one word's draw are right together or wrong together: no interval counts that."""
    source, out = tmp_path / "texts.csv", tmp_path / "released.csv"
    source.write_text("text\n" + "".join(f"paris and rome {n}\n" for n in range(12)))
    given = {"epsilon": 1.0, "top": 2000, "no_cache": True, "seed": 1}
    made = voile.text.protect(str(source), consistent="file", out=str(out), **given)
    for released in (str(out), made.data):
        with pytest.raises(InvalidInput, match="rows share draws"):
            voile.text.calibrate(str(source), released=released, **QUICK)


def test_bounds_are_told_rounded_away_from_what_they_do_not_say():
    """In the symmetric form the sure guesses may show more than that form could."""
    texts = [f"ticket {n}" for n in range(500)]
    found = voile.text.calibrate(texts, command=keep, trials=900, symmetric=True, **QUICK)
    best = found.strongest
    assert best.at_least <= best.ceiling
    assert best.at_least > best.lower
    assert float(str(found).split("an epsilon of at least ")[1].split()[0]) <= best.at_least


def test_what_ones_own_code_prints_is_no_part_of_the_json(tmp_path):
    (tmp_path / "texts.csv").write_text("text\n" + "".join(f"ticket {n}\n" for n in range(9)))
    (tmp_path / "mine.py").write_text("def loud(text):\n    print(text)\n    return 'x'\n")
    words = ("text", "calibrate", tmp_path / "texts.csv", "--command", f"{tmp_path}/mine.py:loud",
             "--attacks", "overlap", "--temperature", "0", "--trials", "30", "--json")  # fmt: skip
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == 0, (done.output, done.exception)
    assert json.loads(done.stdout)["trials"] == 30
