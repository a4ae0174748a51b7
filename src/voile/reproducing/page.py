"""docs/reproductions.md: every entry in one table a paper, made from outcomes that were kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from voile.reproducing.experiment import CANNOT, HOLDS, NOT_RUN, Claim, Outcome
from voile.reproducing.papers import ENTRIES, EXACT, PAPERS, Entry

MOST = 6
"""Numbers that a row shows; the outcome's file has all."""

INTRODUCTION = """\
# The papers, run again

<!-- Made by scripts/reproductions from benchmarks/results/outcomes: change those, then run it. -->

Five papers stand behind voile. This page has every figure, table and theorem of theirs: what it
says, what we find when we run it here, at which size, and whether the claim holds. `voile
reproduce` lists them, `voile reproduce teda-3 --size small --out runs` runs one in minutes and
writes a page; `voile.reproduce("teda-3")` is the same in Python. `--data` names a folder with the
papers' data (`atis`, `snips`, `imdb`, `ag_news`, `manhattan`); without it a small run takes
made-up data, and says so.

A verdict is computed from the run, claim by claim: ✓ the claim holds, ✗ it does not, ? this size
cannot tell. *Holds in part*: some do. *Not run*: nobody has run it for this page; the command
does. *Cannot be run here*: the reason stands beside it. Numbers are ours with their interval (95
%, for ε_emp 99 %, ranges where one number sums up many); the paper's own stand behind the stroke.
A claim that holds at our size is no proof of the paper's numbers, and one that does not may hold
at another.
"""

ERRORS = """\
## Where a paper is wrong or loose

- **UEL, Theorem 5.2** says that label DP-CF implies label DP. It does not: `y ⊕ h(x)` with a fair
  coin h given either label has CF-ε = 0 and gives the label away to who knows x (`uel-5.2`).
  `voile labels audit` states both.
- **TEM, proof of Theorem 2** has exp(ε/2·γ) where exp(−ε/2·γ) belongs. Its remark that embeddings
  may be trained on the sensitive text is not covered by the guarantee: words are protected, the
  embedding matrix is not. Cosine *distance* is no metric, so no guarantee is given for it here.
- **mPL, AmPL-U** is printed as “α₁ = 0”; the weight of the violations is meant. Table 3 counts
  triples that share a release as independent: 10^−790,639 is arithmetic, not a statement about
  the world. `voile text audit` counts documents.
- **AIPO, Proposition 4** has x = x̂ + λ⊙Δ, where Definition 3 makes λ the weight of the *lower*
  corner.
- **AIPO's figures against EM, Laplace and remap cannot be taken over.** In its public code the
  output places are drawn anew in each test while the loss table of 20 outputs is read from a
  file, so that whatever chooses an output by distance is scored at random: EM hardly falls with
  ε, in its own read-me it rises. “Laplace” there is the exponential kernel at ε/2 or less, “RMP”
  the remap of EM, and the check of violations allows 0.01 more than ε. `aipo-code` runs both
  settings side by side; `aipo-2` has all methods by one table.
- **TeDA's ε_emp** is a lower bound by one attack: a small value is “not broken by this attack”,
  never “safe”.
"""


def page(outcomes: Iterable[Outcome]) -> str:
    """The whole page."""
    best: dict[str, Outcome] = {}
    for outcome in sorted(outcomes, key=lambda o: (o.id, o.size == "paper")):
        best[outcome.id] = outcome  # the larger size is what counts
    parts = [INTRODUCTION]
    for short, title in PAPERS.items():
        entries = [one for one in ENTRIES if one.paper == short]
        parts += [f"## {title}", "", *_table(entries, best), ""]
    return "\n".join([*parts, ERRORS])


def read_outcomes(folder: Path) -> list[Outcome]:
    """All outcomes of a folder, in the order of their names."""
    return [Outcome.read(path) for path in sorted(folder.glob("*.json"))]


def _table(entries: Sequence[Entry], found: dict[str, Outcome]) -> list[str]:
    lines = [
        "| | the paper says | we find / the paper | setting | verdict | command |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for one in entries:
        says = one.says + (f" Larger run: `benchmarks/results/{one.more}`." if one.more else "")
        cells = (f"{one.item}<br>`{one.id}`", says, *_answered(one, found.get(one.id)))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return lines


def _answered(one: Entry, outcome: Outcome | None) -> tuple[str, str, str, str]:
    """What we find, the setting, the verdict and the command."""
    if one.checked:
        return "–", "proof and tests", f"{HOLDS}: proved", f"`pytest {one.checked}`"
    if not one.runs:
        drawn = one.instead in ("drawings", "a drawing", "notation")
        return "–", "–", "–" if drawn else f"{CANNOT}: {one.instead}", "–"
    if outcome is None:
        return "–", one.paper_size, NOT_RUN, _command(one, "paper")
    told = [m for m in outcome.measured if m.theirs] or list(outcome.measured)
    shown = [f"{m.what}: {m}" + (f" / {m.theirs}" if m.theirs else "") for m in told[:MOST]]
    more = len(outcome.measured) - len(shown)
    shown += [f"and {more} more"] if more else []
    spent = f", {outcome.seconds:,.0f} CPU s" if outcome.seconds >= 1 else ""
    setting = (
        outcome.setting if one.small == EXACT else f"{outcome.setting} ({outcome.size}{spent})"
    )
    verdict = "<br>".join([f"**{outcome.verdict}**", *map(_claim, outcome.claims)])
    return "<br>".join(shown), setting, verdict, _command(one, outcome.size)


def _command(one: Entry, size: str) -> str:
    """Exact ones need neither size nor data; large ones go on from the cells that are kept."""
    words = f"voile reproduce {one.id}"
    if one.small != EXACT:
        words += f" --size {size} --data DATA"
        words += " --out benchmarks/results" if size == "paper" else ""
    return f"`{words}`"


def _claim(claim: Claim) -> str:
    return {True: "✓", False: "✗", None: "?"}[claim.holds] + f" {claim.says}"
