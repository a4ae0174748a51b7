"""TEM's figure at ε = 2 on whole reviews, as the paper has them, with 50 and 100 dimensions."""

from __future__ import annotations

from functools import partial

from voile.leakage.bounds import clopper_pearson
from voile.reproducing.experiment import Claim, Found, Measured, Row, Work, above, all_hold
from voile.reproducing.tem import FILE, Bench, Sizes

WHOLE = 5000
"""No review has more words that are known."""
Way = tuple[Sizes, str, float]


def plan(*, small: bool) -> list[Way]:
    """The cells: sizes, mechanism, epsilon."""
    if small:
        sizes = Sizes(400, WHOLE, 3000)
        return [(sizes, "baseline", 0.0), (sizes, "TEM", 2.0), (sizes, "Madlib", 2.0)]
    ways = [(d, way, e) for d in (50, 100)
            for way, e in (("baseline", 0.0), ("TEM", 2.0), ("Madlib", 2.0))]  # fmt: skip
    return [
        (Sizes(12_500, WHOLE, 10_000, dimensions), way, epsilon)
        for dimensions, way, epsilon in (*ways, (50, "TEM", 3.0), (50, "TEM", 4.0))
    ]


def accuracy(sizes: Sizes, row: Row, what: str = "", theirs: str = "") -> Measured:
    """Its interval is over the reviews that the model was tested on, 95 %."""
    right = round(row["accuracy"] * sizes.reviews)
    low, high = clopper_pearson(right, sizes.reviews, failure_probability=0.05)
    return Measured(what, row["accuracy"], low, high, theirs)


def whole_reviews(work: Work) -> Found:
    """Accuracy of models trained on whole released reviews, and the attack on them."""
    ways = plan(small=work.small)
    data = work.file("imdb") if work.small else work.needed("imdb", "train.csv.gz").parent
    benches: dict[Sizes, Bench] = {}
    rows: dict[Way, Row] = {}
    for sizes, way, epsilon in ways:
        bench = benches.setdefault(sizes, Bench(sizes, data))
        setting = sizes.setting("imdb" if data else "messages", way, epsilon, 0)
        rows[sizes, way, epsilon] = work.cell(FILE, setting, partial(bench.run, way, epsilon, 0))
    theirs = {("TEM", 2.0): "0.75", ("Madlib", 2.0): "0.52"}
    found = {
        (sizes.dimensions, way, epsilon): accuracy(
            sizes,
            row,
            f"{sizes.dimensions}d, {way}{f' at ε = {epsilon:g}' if epsilon else ''}: accuracy",
            theirs.get((way, epsilon), ""),
        )
        for (sizes, way, epsilon), row in rows.items()
    }
    dimensions = sorted({sizes.dimensions for sizes, _, _ in ways})
    ahead = [above(found[d, "TEM", 2.0], found[d, "Madlib", 2.0]) for d in dimensions]
    claims = [Claim("at ε = 2 TEM trains the better model", all_hold(ahead))]
    chance = [abs(row["auc"] - 0.5) < 0.02 for (_, _, e), row in rows.items() if e == 2.0]
    claims.append(Claim("at ε = 2 the attack is at chance for both", all(chance)))
    close = {d: (m.lower or 0) <= 0.75 <= (m.upper or 1)
             for (d, way, e), m in found.items() if (way, e) == ("TEM", 2.0)}  # fmt: skip
    claims.append(Claim("TEM reaches 75 % at ε = 2", any(close.values())))
    if len(dimensions) > 1:
        low, high = (found[d, "TEM", 2.0] for d in dimensions)
        claims.append(Claim("more dimensions bring it nearer", above(high, low)))
    sizes = ways[0][0]
    return Found(
        f"{'IMDB' if data else 'made-up messages'}, {sizes.reviews:,} whole texts a half, "
        f"{sizes.top:,} words of GloVe, {' and '.join(map(str, dimensions))} dimensions instead of "
        "300; one trial, 95 % over the texts tested on",
        list(found.values()),
        claims,
    )
