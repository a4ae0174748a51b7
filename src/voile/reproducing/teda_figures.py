"""What TeDA's figures claim, checked on games of ours."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from voile.reproducing import teda
from voile.reproducing.experiment import ENDLESS, Claim, Found, Measured, Row, Work
from voile.reproducing.teda import FAR, FILE, MESSAGES, Bench, cell

FEW = (1.0, 2.0, 5.0, 10.0)
"""Epsilons of a word around the turn, for a small run."""


def figure_2(work: Work) -> Found:
    """The judge: at paper size our own largest run of it."""
    if work.small:
        one = {"attack": "judge", "pool": 60, "trials": 60}
        rows = played(work, [cell("figure2", "tem", e, **_at(work) | one) for e in (1.0, 10.0)])
    else:
        rows = played(work, teda.judged())
    return Found(
        f"{_where(rows)}; TEM, SmolLM2-135M in process by likelihood instead of Qwen3-8B",
        [shown(row) for row in rows],
        [Claim("what a language model tells apart rises with ε", rises(rows))],
    )


def figure_3(work: Work) -> Found:
    """External embedding attack on words; at paper size vectors and rewriters too."""
    if work.small:
        rows = played(work, _words(work, FEW))
        return Found(
            f"{_where(rows)}; word mechanisms, MiniLM instead of mpnet",
            [shown(row) for row in rows],
            [*_word_claims(rows)],
        )
    rows = played(work, [*teda.words("atis"), *teda.words("snips")])
    vectors, texts = played(work, teda.latents()), played(work, teda.neural())
    kept = [r for r in rows if r["epsilon"] in (1.0, 2.0, 5.0, 10.0) and r["data"] == "atis"]
    kept += [r for r in (*vectors, *texts) if r["epsilon"] in (100.0, 2500.0)]
    kept = [r for r in kept if r["data"] == "atis" and "released" not in r["mechanism"]]
    inside = [r for r in vectors if r["attack"] == "internal"]
    outside = [r for r in vectors if r["attack"] == "embedding"]
    tokens = [r for r in texts if r["mechanism"] != "dp-st"]
    return Found(
        f"{_where(rows)}, and SNIPS; small models trained here or packaged, MiniLM",
        [shown(row) for row in kept],
        [
            *_word_claims(rows),
            Claim("what a noisy vector tells rises with ε", _all_rise(inside)),
            Claim("the vector tells more than the text from ε = 50 on", _all(
                _apart(one, other) for one, other in zip(inside, outside, strict=True)
                if one["epsilon"] >= 50)),
            Claim("token rewriters show more than ADePT and DP-BART at the same ε ≥ 100", _all(
                _apart(token, text) for token in tokens for text in outside
                if _same(token, text, "data", "epsilon") and token["epsilon"] >= 100)),
            Claim("DP-BART falls from ε = 1,000 to 2,500", _all(
                _apart(one, other) for one, other in _steps(outside, "dp-bart")
                if (one["epsilon"], other["epsilon"]) == (1000.0, 2500.0))),
        ],
    )  # fmt: skip


def figure_4(work: Work) -> Found:
    """What is left for a classifier, and what of an attribute; a small classifier of ours."""
    count = 600 if work.small else 3000
    rows = [
        work.cell(
            "teda_figure_4.jsonl", {"epsilon": e, "messages": count}, partial(_left, e, count)
        )
        for e in (1.0, 3.0, 10.0)
    ]
    return Found(
        f"{count:,} made-up messages, topic to keep and region to hide, TEM, a linear classifier "
        "instead of DeBERTa; Trustpilot cannot be had",
        [Measured(f"F1 of the {what} at ε = {row['epsilon']:g}", row[what])
         for what in ("topic", "region") for row in rows],
        [Claim(says, rows[0][what] < rows[-1][what])
         for says, what in (("use rises with ε_emp", "topic"),
                            ("so does what is told of a private attribute", "region"))],
    )  # fmt: skip


def _left(epsilon: float, count: int) -> Row:
    from voile.text._compare import compare
    from voile.text.sample_messages import messages

    known = messages(count, seed=0)
    (found,) = compare(
        [message.text for message in known], mechanisms=("tem",), epsilon=(epsilon,),
        attacks=("overlap", "shape"), label=[m.topic for m in known], temperature=0.0, trials=300,
        attribute=[m.region for m in known], utility_rows=count,
    ).cells  # fmt: skip
    return {"topic": found.f1 or 0.0, "region": found.attribute_f1 or 0.0}


def figure_5(work: Work) -> Found:
    """More trials."""
    counts = (500, 20_000) if work.small else (10_000, 1_000_000)
    uniform: dict[str, Any] = {"attack": "overlap", "lambda": 0.0}
    rows = played(work, [
        cell("figure5", "tem", e, **_at(work) | uniform | {"trials": n}) for e in (1.0, 2.0)
        for n in counts])  # fmt: skip
    return Found(
        f"{_where(rows)}, {counts[0]:,} and {counts[1]:,} trials; TEM and shared words instead of "
        "DP-MLM and sentence vectors",
        [shown(row, f", {row['trials']:,} trials") for row in rows],
        [
            Claim("more trials leave the estimate where it was",
                  _meet(rows[0], rows[1]) and _meet(rows[2], rows[3])),
            Claim("and the trend", all(one["middle"] <= other["middle"]
                                       for one, other in zip(rows[:2], rows[2:], strict=True))),
        ],
    )  # fmt: skip


def figure_6(work: Work) -> Found:
    """Candidates far apart, uniform and alike."""
    if work.small:
        names, epsilons, uses = ("tem", "madlib"), (2.0, 5.0, 10.0), _at(work)
        todo = [cell("figure6", n, e, **uses, **{"lambda": t}) for n in names for e in epsilons
                for t in (FAR, 0.0, -FAR)]  # fmt: skip
        rows = played(work, todo)
    else:
        rows = played(work, [*teda.sets(), *_far_apart()])
    uniform = [r for r in rows if r["lambda"] == 0.0]
    alike = [_with(rows, r, **{"lambda": -FAR}) for r in uniform]
    far = [_with(rows, r, **{"lambda": FAR}) for r in uniform]
    told = [i for i, r in enumerate(uniform) if r["lower"] > 0.1]
    return Found(
        f"{_where(rows)}; λ = −10,000, 0, 10,000",
        [shown(r, f", λ = {r['lambda']:g}") for i in told[:5]
         for r in (far[i], uniform[i], alike[i])],
        [
            Claim("alike candidates are harder to tell apart", _all(
                _apart(uniform[i], alike[i]) for i in told)),
            Claim("far apart ones are easiest", _all(_apart(far[i], uniform[i]) for i in told)),
            Claim("the ranking of mechanisms is the same for all three", _same_ranking(
                [far, uniform, alike])),
        ],
    )  # fmt: skip


def figure_8(work: Work) -> Found:
    """More candidates."""
    if work.small:
        todo = [cell("figure8", "tem", e, k=k, **_at(work)) for k in (2, 4, 8, 16) for e in FEW]
        rows = played(work, todo)
    else:
        rows = [r for r in played(work, [*teda.counts(), *_far_apart()]) if r["mechanism"] == "tem"]
        rows.sort(key=lambda r: (r["k"], r["epsilon"]))
    tops = [next(r["ceiling"] for r in rows if r["k"] == k) for k in (2, 4, 8, 16)]
    return Found(
        f"{_where(rows)}; TEM, k = 2, 4, 8, 16",
        [shown(r, f", k = {r['k']}") for r in rows if r["epsilon"] in (2.0, 10.0)],
        [
            Claim("more candidates raise the ceiling", tops == sorted(set(tops))),
            Claim("ε_emp rises with ε for every k", _all(
                rises([r for r in rows if r["k"] == k]) for k in (2, 4, 8, 16))),
        ],
    )  # fmt: skip


def figure_9(work: Work) -> Found:
    """From successes alone, or from true and false positives."""
    rows = played(work, _words(work, FEW) if work.small else teda.words("atis"))
    gaps = [abs(r["lower"] - r["symmetric_lower"]) for r in rows]
    return Found(
        f"{_where(rows)}; the same guesses, estimated twice",
        [shown(r, ", reduced form") for r in rows if r["epsilon"] in (2.0, 5.0)]
        + [Measured("largest difference of the lower ends", max(gaps))],
        [Claim("both forms are close to identical: intervals meet in every cell", all(
            r["lower"] <= r["symmetric_upper"] and r["symmetric_lower"] <= r["upper"]
            for r in rows))],
    )  # fmt: skip


def played(work: Work, cells: Iterable[Row]) -> list[Row]:
    """The rows of these cells, kept or played now."""
    bench = Bench(work.data)
    return [work.cell(FILE, todo, partial(bench.run, todo)) for todo in cells]


def shown(row: Row, more: str = "") -> Measured:
    """ε_emp of a row with its interval at 1 %."""
    middle = min(row["middle"], ENDLESS)
    return Measured(f"{_name(row)}{more}", middle, row["lower"], row["upper"])


def rises(rows: Sequence[Row]) -> bool | None:
    """Whether more shows at the last ε than at the first, and nowhere clearly less than before."""
    if any(_apart(one, other) for one, other in pairwise(rows)):
        return False
    return True if _apart(rows[-1], rows[0]) else None


def _words(work: Work, epsilons: Sequence[float]) -> list[Row]:
    uses = _at(work)
    section = f"figure3-{uses['data']}"
    return [cell(section, name, e, **uses) for name in ("tem", "em", "madlib") for e in epsilons]


def _at(work: Work) -> dict[str, Any]:
    """The texts and the size of a small game; ATIS where it was given."""
    data = "atis" if work.file("atis", "train", "seq.in") else MESSAGES
    return {"data": data, "trials": 1000, "pool": 400} if work.small else {}


def _word_claims(rows: Sequence[Row]) -> list[Claim]:
    last = [r for r in rows if r["epsilon"] >= 10 and r["mechanism"] == "tem"]
    return [
        Claim("what sentence vectors tell rises with ε, for each mechanism", _all_rise(rows)),
        Claim(
            "and comes within 2 of the ceiling", all(r["upper"] > r["ceiling"] - 2 for r in last)
        ),
    ]


def _far_apart() -> list[Row]:
    """The cells of other figures whose candidates are far apart, for those that are varied."""
    usual = {name: {"pool": pool} for name, (_, pool) in teda.VARIED.items()}
    section = {"tem": "figure3-atis", "dp-mlm": "rewriters", "dp-st": "rewriters"}
    return [
        cell(section.get(n, "internal"), n, e, **usual[n]) for n in usual for e in teda.VARIED[n][0]
    ]


def _where(rows: Sequence[Row]) -> str:
    trials, texts = max(r["trials"] for r in rows), max(r["texts"] for r in rows)
    data = "made-up messages" if rows[0]["data"] == MESSAGES else rows[0]["data"].upper()
    return f"{data}, {texts:,} texts, T = {trials:,}"


def _name(row: Row) -> str:
    return f"{row['mechanism']} at ε = {row['epsilon']:g}, {row['attack']}"


def _apart(one: Row, other: Row) -> bool | None:
    """Whether one row clearly shows more than another; None where their intervals meet."""
    if _meet(one, other):
        return None
    return bool(one["lower"] > other["upper"])


def _meet(one: Row, other: Row) -> bool:
    ends = [min(r["upper"], ENDLESS) for r in (one, other)]
    return bool(one["lower"] <= ends[1] and other["lower"] <= ends[0])


def _all(told: Iterable[bool | None]) -> bool | None:
    """Whether all that can be told hold; None where none can."""
    sure = [value for value in told if value is not None]
    return all(sure) if sure else None


def _groups(rows: Sequence[Row]) -> list[list[Row]]:
    keys = list(dict.fromkeys((r["data"], r["mechanism"], r["attack"]) for r in rows))
    return [[r for r in rows if (r["data"], r["mechanism"], r["attack"]) == k] for k in keys]


def _all_rise(rows: Sequence[Row]) -> bool | None:
    return _all(rises(group) for group in _groups(rows))


def _steps(rows: Sequence[Row], name: str) -> list[tuple[Row, Row]]:
    return [pair for group in _groups(rows) if group[0]["mechanism"].startswith(name)
            for pair in pairwise(group)]  # fmt: skip


def _same(one: Row, other: Row, *names: str) -> bool:
    return all(one[name] == other[name] for name in names)


def _with(rows: Sequence[Row], like: Row, **changed: Any) -> Row:
    wanted = {
        n: like[n] for n in ("mechanism", "epsilon", "data", "attack", "k", "lambda")
    } | changed
    return next(r for r in rows if all(r[n] == v for n, v in wanted.items()))


def _same_ranking(columns: Sequence[Sequence[Row]]) -> bool | None:
    """Whether no two mechanisms clearly change places between columns, at any ε."""
    told = []
    for i, one in enumerate(columns[0]):
        for j in range(i):
            if one["epsilon"] == columns[0][j]["epsilon"]:
                orders = {_apart(column[i], column[j]) for column in columns} - {None}
                told.append(len(orders) < 2 if orders else None)
    return _all(told)
