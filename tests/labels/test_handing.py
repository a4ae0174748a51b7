"""Releases that are handed on again or in a random order: memo, shuffling, and liars of both."""

import json
import os
import stat
import unicodedata

import numpy as np
import pytest

import voile
from label_files import write_rows
from voile import labels
from voile.core.keyed_streams import KeyedStreams
from voile.errors import BadFile, CannotWrite, InvalidInput
from voile.labels.memo import Memo
from voile.leakage.shuffling import amplified_epsilon

pytest.importorskip("sklearn")

COUNT = 3_000


def rows_of(seed, count=COUNT):
    rng = np.random.default_rng(seed)
    ill = rng.random(count) < 0.4
    smokes = np.where(rng.random(count) < np.where(ill, 0.8, 0.3), "yes", "no")
    town = rng.choice(["north", "south", "west"], size=count)
    return [
        [f"p{i}", s, t, "ill" if y else "well"]
        for i, (s, t, y) in enumerate(zip(smokes, town, ill, strict=True))
    ]


HEADER = ["id", "smokes", "town", "state"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("handing")
    write_rows(made / "public.csv", HEADER, rows_of(1, 400))
    write_rows(made / "private.csv", HEADER, rows_of(2))
    for mechanism in ("sample", "ldp", "cf"):
        labels.recipe(made / "public.csv", label="state", drop=("id",), mechanism=mechanism,
                      out=made / f"{mechanism}.json")  # fmt: skip
    return made


def protect(folder, data="private.csv", *, out, **options):
    given = {"label": "state", "epsilon": 2.0, "mechanism": "sample",
             "recipe": folder / "sample.json", "overwrite": True}  # fmt: skip
    given = given | ({"drop": ("id",)} if "memo" not in options else {"person": "id"}) | options
    return labels.protect(folder / data, out=str(out), **given)


def lines(path):
    return path.read_text().splitlines()[1:]


# Memo


def test_the_same_record_gets_the_same_report_and_another_key_another(folder, tmp_path):
    first, again, other = (tmp_path / name for name in ("a.csv", "b.csv", "c.csv"))
    memo = str(tmp_path / "memo.json")
    release = protect(folder, out=first, memo=memo)
    protect(folder, out=again, memo=memo, batch_rows=500)
    assert lines(first) == lines(again), "in other parts too"
    protect(folder, out=other, memo=str(tmp_path / "another.json"))
    assert lines(first) != lines(other)
    assert stat.S_IMODE(os.stat(memo).st_mode) == 0o600
    assert release.memo
    said = json.loads((tmp_path / "a.csv.guarantee.json").read_text())
    assert said["memo"] is True
    assert "that a record changed" in " ".join(said["guarantee"]["outside"])
    assert "whoever holds the memo" in " ".join(said["guarantee"]["outside"])
    assert "drawn anew and spends" not in " ".join(said["guarantee"]["outside"])
    assert "Several records of one person: each different one spends ε." in str(release)
    key = json.loads((tmp_path / "memo.json").read_text())["key"]
    told = "".join(path.read_text() for path in tmp_path.glob("a.csv*"))
    assert key not in told, "the key stands in no file but its own"
    assert "p17" not in told, "nor does a person"


def test_who_changes_draws_anew_in_the_same_column_and_others_stay(folder, tmp_path):
    memo = str(tmp_path / "memo.json")
    release = protect(folder, out=tmp_path / "a.csv", memo=memo)
    changed = rows_of(2)
    for row in changed[:1000]:
        row[1], row[3] = "yes" if row[1] == "no" else "no", "well" if row[3] == "ill" else "ill"
    write_rows(folder / "changed.csv", HEADER, changed)
    grouped = tmp_path / "a.csv.recipe.json"
    protect(folder, "changed.csv", out=tmp_path / "b.csv", memo=memo, recipe=grouped)
    before, after = lines(tmp_path / "a.csv"), lines(tmp_path / "b.csv")
    assert before[1000:] == after[1000:]
    columns = [[row.split(",")[0] for row in part] for part in (before, after)]
    assert columns[0] == columns[1], "a person's column is drawn once and for all"
    assert before[:1000] != after[:1000]
    assert release.guarantee.epsilon <= 2


def test_the_law_of_memoised_reports_is_the_certified_one_and_a_liar_is_caught(folder, tmp_path):
    """2,000 reports of one record by as many persons, at 1e-9: by its law, and by one planted."""
    release = protect(folder, out=tmp_path / "a.csv", memo=str(tmp_path / "memo.json"))
    law = release.protection.sampler.law
    codes = np.tile(np.array([[0, 1]]), (2_000, 1))

    def fits(draw):
        reports = draw(codes, [f"person {i}" for i in range(2_000)])
        seen = np.concatenate(law.output_counts(reports)) / 2_000
        column = np.exp(law.column.log_probabilities()[0])
        wanted = np.concatenate([
            column[j] * channel.probabilities()[codes[0, j]]
            for j, channel in enumerate(law.channels)
        ])  # fmt: skip
        # each count is binomial: Bernstein, at 1e-9 for all of them together
        room = np.log(2 * len(wanted) / 1e-9) / 2_000
        return bool((np.abs(seen - wanted) <= np.sqrt(2 * wanted * room) + room).all())

    memo = Memo(bytes(range(32)))
    assert fits(lambda codes, persons: memo.release(law, codes, persons))

    def one_stream(codes, persons):  # planted: the person is left out of the report's name
        drawn = memo.release(law, codes, persons)
        streams = KeyedStreams(memo.key)
        for j, channel in enumerate(law.channels):
            here = drawn[:, 0] == j
            drawn[here, 1] = channel.draw([codes[0, j]], streams.rng(b"report %d" % j))[0]
        return drawn

    assert not fits(one_stream)


def test_a_memo_of_another_law_or_of_nobody_is_refused(folder, tmp_path):
    memo = tmp_path / "memo.json"
    protect(folder, out=tmp_path / "a.csv", memo=str(memo))
    for options, what in (
        ({"epsilon": 1.0}, "another recipe or epsilon"),
        ({"mechanism": "ldp", "recipe": folder / "ldp.json"}, "must go with --mechanism sample"),
        ({"shuffle": True}, "must not go with --shuffle"),
        ({"person": None, "drop": ("id",)}, "must go with --person"),
        ({"person": "nobody"}, "nobody"),
        ({"ledger": str(tmp_path / "l.db")}, "without --ledger"),
    ):
        with pytest.raises(InvalidInput, match=what):
            protect(folder, out=tmp_path / "b.csv", memo=str(memo), **options)
        assert not (tmp_path / "b.csv").exists()
    (tmp_path / "bad.json").touch(0o600)
    for content in ("", "{}", "[1]", '{"format": "voile-memo/2", "law": 3, "key": "00"}', "x" * 9):
        (tmp_path / "bad.json").write_text(content)
        with pytest.raises(BadFile, match="must name a file that voile made"):
            protect(folder, out=tmp_path / "b.csv", memo=str(tmp_path / "bad.json"))
    with pytest.raises(CannotWrite):
        protect(folder, out=tmp_path / "b.csv", memo=str(tmp_path / "no" / "memo.json"))
    rows = rows_of(3, 50)
    rows[7][0] = ""
    write_rows(tmp_path / "nameless.csv", HEADER, rows)
    with pytest.raises(InvalidInput, match="names no person"):
        labels.protect(tmp_path / "nameless.csv", label="state", epsilon=2, mechanism="sample",
                       recipe=folder / "sample.json", memo=str(tmp_path / "n.json"), person="id",
                       out=str(tmp_path / "b.csv"))  # fmt: skip


def test_a_person_in_two_spellings_is_one(folder, tmp_path):
    """é as one character and as two: in the file, and to the memo itself."""
    memo, rows = str(tmp_path / "memo.json"), rows_of(5, 300)
    for form in ("NFC", "NFD"):
        named = [[unicodedata.normalize(form, f"José {r[0]}"), *r[1:]] for r in rows]
        write_rows(tmp_path / f"{form}.csv", HEADER, named)
        protect(tmp_path, f"{form}.csv", out=tmp_path / f"{form}.out.csv", memo=memo,
                recipe=folder / "sample.json")  # fmt: skip
    assert lines(tmp_path / "NFC.out.csv") == lines(tmp_path / "NFD.out.csv")


def test_a_memo_that_others_read_or_of_another_format_is_refused(folder, tmp_path):
    memo = tmp_path / "memo.json"
    protect(folder, out=tmp_path / "a.csv", memo=str(memo))
    memo.chmod(0o640)
    with pytest.raises(BadFile, match="--memo must be readable by you alone: chmod 600"):
        protect(folder, out=tmp_path / "a.csv", memo=str(memo))
    memo.chmod(0o600)
    memo.write_text(memo.read_text().replace("voile-memo/2", "voile-memo/9"))
    with pytest.raises(BadFile, match="is damaged"):
        protect(folder, out=tmp_path / "a.csv", memo=str(memo))


def test_a_refused_job_leaves_no_memo(folder, tmp_path):
    write_rows(tmp_path / "p.csv", ["id", "smokes", "state"], [["p1", "yes", "ill"]] * 9)
    with pytest.raises(InvalidInput, match="1 are missing"):
        protect(tmp_path, "p.csv", out=tmp_path / "a.csv", memo=str(tmp_path / "m.json"),
                recipe=folder / "sample.json")  # fmt: skip
    assert not (tmp_path / "m.json").exists()


# Shuffling


@pytest.mark.parametrize("mechanism", ["sample", "ldp", "cf"])
def test_both_bounds_are_stated_and_the_rows_are_the_same_in_another_order(
    folder, tmp_path, mechanism
):
    options = {"mechanism": mechanism, "recipe": folder / f"{mechanism}.json", "epsilon": 0.5}
    plain = protect(folder, out=tmp_path / "plain.csv", seed=3, batch_rows=10**6, **options)
    mixed = protect(folder, out=tmp_path / "mixed.csv", seed=3, shuffle=True, delta=1e-5,
                    batch_rows=100, **options)  # fmt: skip
    before, after = lines(tmp_path / "plain.csv"), lines(tmp_path / "mixed.csv")
    assert sorted(before) == sorted(after), "whole rows, each once"
    assert before != after
    local = mixed.epsilon.local
    assert local == plain.epsilon.local
    wanted = amplified_epsilon(local, records=COUNT, delta=1e-5)
    assert mixed.shuffled.epsilon == wanted
    assert mixed.shuffled.delta == (1e-5 if wanted < local else 0)
    assert mixed.shuffled.records == COUNT
    assert plain.shuffled is None
    said = json.loads((tmp_path / "mixed.csv.guarantee.json").read_text())
    assert said["shuffled"]["epsilon"] == wanted
    assert said["epsilon"]["local"] == local
    text = " ".join(str(mixed).split())
    assert "The rows are in a random order" in text
    if wanted < local:
        assert "central; Feldman" in text
        assert "δ = 1e-05" in text
    else:
        assert "too few" in text


def test_every_order_is_alike_and_a_liar_is_caught(monkeypatch):
    """Where the first of six rows comes out, 3,000 times; planted: an order that is not drawn."""
    from voile.labels import draw

    releaser = draw.LabelReleaser(None, None, {}, False, None, True)
    released = draw.Replaced({"row": list("abcdef")})
    rng = voile.seeded_rng(5)

    def even():
        places = [
            releaser._shuffled(released, np.arange(6), rng).columns["row"].index("a")
            for _ in range(3_000)
        ]
        room = np.sqrt(np.log(2 * 6 / 1e-9) / (2 * 3_000))  # Hoeffding at 1e-9
        return bool(np.abs(np.bincount(places, minlength=6) / 3_000 - 1 / 6).max() <= room)

    assert even()
    kept = releaser._shuffled(released, np.array([0, 2, 3]), rng).columns["row"]
    assert [kept[i] for i in (1, 4, 5)] == list("bef"), "a row that is not released stays out"
    assert sorted(kept) == list("abcdef")

    def sticky(self, released, good, rng):  # planted: rows go to the next place at most
        turn = rng.integers(2)
        return draw.Replaced({n: list(np.roll(v, turn)) for n, v in released.columns.items()})

    monkeypatch.setattr(draw.LabelReleaser, "_shuffled", sticky)
    assert not even()


def test_what_shuffling_does_not_hide_is_refused(folder, tmp_path):
    for options, what in (
        ({"mechanism": "rr", "recipe": None, "classes": ("ill", "well"), "pass_": "all",
          "drop": ()}, "must go with cf, ldp or sample"),
        ({"pass_": ("id",), "drop": ()}, "without columns in clear"),
        ({"delta": 0.0}, "--delta"),
        ({"delta": 1.5}, "--delta"),
        ({"delta": 1.01 / COUNT}, "--delta must be at most 1 in 3,000, the number of records"),
        ({"mechanism": "ldp", "recipe": None, "learn_epsilon": 1.0}, "without δ"),
        ({"mechanism": "ldp", "recipe": None, "learn_from_private": True}, "public recipe"),
    ):  # fmt: skip
        with pytest.raises(InvalidInput, match=what):
            protect(folder, out=tmp_path / "b.csv", shuffle=True, **options)
        assert not (tmp_path / "b.csv").exists()


def test_the_statement_is_for_the_rows_that_are_released(folder, tmp_path):
    """A line that cannot be read is no record to hide among."""
    text = (folder / "private.csv").read_text().splitlines()
    text[5] += ",too,many"
    (tmp_path / "bad.csv").write_text("\n".join(text) + "\n")
    made = labels.protect(tmp_path / "bad.csv", label="state", epsilon=0.5, mechanism="ldp",
                          recipe=folder / "ldp.json", drop=("id",), on_error="skip", shuffle=True,
                          out=str(tmp_path / "b.csv"))  # fmt: skip
    assert made.shuffled.records == COUNT - 1
    assert len(lines(tmp_path / "b.csv")) == COUNT - 1


def test_it_works_in_memory_as_in_a_file(folder):
    rows = [dict(zip(HEADER[1:], row[1:], strict=True)) for row in rows_of(2)]
    made = labels.protect(rows, label="state", epsilon=0.5, mechanism="ldp", seed=1, shuffle=True,
                          recipe=folder / "ldp.json")  # fmt: skip
    assert made.shuffled.records == len(made.data) == COUNT
    assert made.shuffled.epsilon < made.epsilon.local
