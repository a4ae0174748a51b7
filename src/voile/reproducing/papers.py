"""Every figure, table and theorem of the five papers: what it says, and what runs it here.

An id is the paper's short name and a number: of a figure for teda, tem and uel, of a table for ampl
and aipo; the others are spelled out.
"""

from __future__ import annotations

from dataclasses import dataclass

from voile.errors import InvalidInput

HERE = "voile.reproducing"

PAPERS = {
    "ampl": "Metric-normalised posterior leakage (mPL, AmPL)",
    "teda": "Text distinguishability audit (TeDA), arXiv 2603.22968",
    "tem": "Truncated exponential mechanism (TEM), arXiv 2107.07928",
    "uel": "Label differential privacy can release unexpected leakage (UEL)",
    "aipo": "Interpolation-based optimisation for metric privacy (AIPO)",
}


@dataclass(frozen=True)
class Entry:
    """One figure, table or theorem; `home` is what runs it, `instead` says why nothing does."""

    id: str
    item: str
    says: str
    home: str = ""
    small: str = ""
    """What the small size is, and how long it takes on one core."""
    paper_size: str = ""
    """What the paper's size is here, and how long it takes."""
    checked: str = ""
    """The tests that hold a theorem, where nothing is to be run; as pytest takes them."""
    instead: str = ""
    more: str = ""
    """A file of larger results in benchmarks/results."""

    @property
    def paper(self) -> str:
        """The short name of its paper."""
        return self.id.partition("-")[0]

    @property
    def runs(self) -> bool:
        """Whether there is something to run."""
        return bool(self.home)


EXACT = "exact, a second"
KEPT = "the cells of benchmarks/results, hours if run anew"
CHECKPOINT = "examples written by published checkpoints that no package carries"

_TEDA = f"{HERE}.teda_figures"
_AMPL = f"{HERE}.ampl_tables"
_AMPL_EXACT = f"{HERE}.ampl_exact"
_AIPO = f"{HERE}.aipo_tables"
_EXACT = f"{HERE}.theorems"
_TESTS = "tests/optimise/test_aipo_theorems.py"

ENTRIES = (
    Entry("ampl-example", "Section 2.4, C.1",
          "Two bits, each released under ε = 1: 0.944 alone, 1.846 together.",
          f"{_EXACT}:joint_reading", EXACT, EXACT),
    Entry("ampl-proposition-1", "Proposition 1", "Post-processing keeps bounded mPL.",
          f"{_EXACT}:post_processing", EXACT, EXACT),
    Entry("ampl-proposition-2", "Proposition 2", "One release: mPL ≤ ε is ε-mDP.",
          f"{_EXACT}:single_release", EXACT, EXACT),
    Entry("ampl-proposition-3", "Proposition 3",
          "Independent secrets: bounds of single releases suffice.",
          f"{_EXACT}:independent_releases", EXACT, EXACT),
    Entry("ampl-proposition-4", "Proposition 4", "Hoeffding's confidence in a share of violations.",
          f"{_AMPL_EXACT}:table_3", EXACT, EXACT),
    Entry("ampl-proposition-5", "Proposition 5", "A learned attacker's mPL tends to the true one.",
          instead="a limit in the size of the training data; ampl-figure-9 is what data of ours "
          "show"),
    Entry("ampl-figure-1", "Figures 1 and 2", "The threat model and the loop, drawn.",
          instead="drawings"),
    Entry("ampl-1", "Table 1",
          "EM violates in 0–13 % of triples before learned attackers, less at larger ε; AmPL is "
          "lowest.",
          f"{_AMPL}:table_1", "120 documents of the search, an LSTM; 2 CPU minutes",
          "6,400 documents of the search of each of three data sets, four networks; 50 CPU minutes",
          more="ampl_tables.md"),
    Entry("ampl-controls", "Beside Table 1",
          "Attackers learn from the releases, not from noise (a control that the paper lacks).",
          f"{_AMPL}:controls", "200 documents, an LSTM; 1 CPU minute",
          "600 documents, four networks; 4 CPU minutes", more="ampl_tables.md"),
    Entry("ampl-2", "Table 2", "Notation.", instead="notation"),
    Entry("ampl-3", "Table 3", "log10 of the failure probability from −2 to −790,639.",
          f"{_AMPL_EXACT}:table_3", EXACT, EXACT),
    Entry("ampl-figure-3", "Figure 3", "Histograms of mPL by attacker: a tail beyond ε.",
          f"{_AMPL}:figure_3", "the cells of ampl-1; 2 CPU minutes",
          "the cells of ampl-1; 17 CPU minutes", more="ampl_tables.md"),
    Entry("ampl-figure-4", "Figures 4 to 7",
          "The remap lowers the loss from 0.31–0.33 to 0.13–0.18; AmPL's is then EM's.",
          f"{_AMPL_EXACT}:figure_4", "300 documents; 10 CPU seconds",
          "4,000 documents of each of three data sets; 2 CPU minutes"),
    Entry("ampl-figure-8", "Figure 8", "Fewer violations cost more loss, over a grid of strengths.",
          f"{_AMPL}:figure_8", "the searches of ampl-1; 1 CPU minute",
          "the searches of ampl-1; 2 CPU minutes", more="ampl_tables.md"),
    Entry("ampl-figure-9", "Figure 9", "With more training data violations fall slightly.",
          f"{_AMPL}:figure_9", "30 to 120 documents; 1 CPU minute",
          "100 to 6,400 documents; 3 CPU minutes"),
    Entry("teda-ceiling", "Section 4.2", "10,000 trials show at most 7.54.",
          f"{_EXACT}:finite_sample_ceiling", EXACT, EXACT),
    Entry("teda-1", "Figure 1", "The game, drawn.", instead="a drawing"),
    Entry("teda-2", "Figure 2",
          "A language model as judge: near 0 for ADePT and DP-BART, rising with ε for the others.",
          f"{_TEDA}:figure_2", "60 trials at two ε; 1 CPU minute",
          "300 trials, 60 texts, five ε; 10 CPU minutes",
          more="teda_figures.md"),
    Entry("teda-3", "Figure 3",
          "Sentence vectors tell what a judge tells; noisy vectors inside reach the ceiling, and "
          "rise "
          "with ε; DP-BART's text falls at 2,500.",
          f"{_TEDA}:figure_3", "1,000 trials, word mechanisms; 1 CPU minute", KEPT,
          more="teda_figures.md"),
    Entry("teda-4", "Figure 4", "Use and attribute inference follow ε_emp, not ε.",
          f"{_TEDA}:figure_4", "600 messages; 30 CPU seconds", "3,000 messages; 2 CPU minutes",
          more="text_restore.md"),
    Entry("teda-5", "Figure 5", "10⁴ and 10⁶ trials agree.",
          f"{_TEDA}:figure_5", "500 and 20,000 trials; 30 CPU seconds", KEPT,
          more="teda_figures.md"),
    Entry("teda-6", "Figure 6", "Candidates far apart, uniform, alike: other values, same ranking.",
          f"{_TEDA}:figure_6", "1,000 trials, two word mechanisms; 2 CPU minutes", KEPT,
          more="teda_figures.md"),
    Entry("teda-7", "Figure 7", "Token ε turned into a text's by n·ε: same ranking.",
          instead="needs the judge on every rewriter; the conversion is `voile text compare`'s "
          "own"),
    Entry("teda-8", "Figure 8", "k = 2 to 16: a higher ceiling, the same trend.",
          f"{_TEDA}:figure_8", "1,000 trials, TEM; 2 CPU minutes", KEPT, more="teda_figures.md"),
    Entry("teda-9", "Figure 9", "Reduced and symmetric estimator nearly agree.",
          f"{_TEDA}:figure_9", "the cells of teda-3; 1 CPU minute", KEPT, more="teda_figures.md"),
    Entry("teda-10", "Figure 10", "DP-BART: SNR 0.41, 1.60, 4.07 at ε = 250, 1,000, 2,500.",
          instead="needs the published BART's vectors; the small one trained here has other norms"),
    Entry("teda-11", "Figure 11", "DP-Paraphrase's GPT-2 starts with “The” in 71.6 %.",
          instead="needs the published paraphraser"),
    Entry("teda-table-1", "Tables 1 and 3", "Rewritings side by side.", instead=CHECKPOINT),
    Entry("teda-table-2", "Table 2", "Two cases in which judge and vectors disagree.",
          instead=CHECKPOINT),
    Entry("teda-table-4", "Tables 4 and 5", "DP-BART over seeds; three tokenisers.",
          instead=CHECKPOINT),
    Entry("tem-theorem-1", "Theorem 1", "Madlib has ε-mDP for Euclidean distances.",
          checked="tests/core/test_lattice_laplace.py::test_log_probabilities_are_lipschitz "
          "tests/mechanisms/test_madlib.py::test_nearest_words_are_the_nearest"),
    Entry("tem-theorem-2", "Theorem 2",
          "TEM has ε-mDP for any metric (its proof prints exp(ε/2·γ) where −γ belongs).",
          f"{_EXACT}:truncated", EXACT, EXACT),
    Entry("tem-theorem-3", "Theorem 3", "γ = (2/ε)·ln((1−β)(|W|−1)/β) keeps 1 − β within γ.",
          f"{_EXACT}:truncation", EXACT, EXACT),
    Entry("tem-1", "Figure 1",
          "At ε = 2 models reach 75 % (TEM) and 52 % (Madlib), the attack 0.50 on both.",
          f"{HERE}.tem:figure_1",
          "2,000 texts a half (1,000 of ours), 3 trials, ε = 2, 4, 8; 3 CPU minutes",
          "12,500 whole reviews a half, 5 trials; hours", more="tem_imdb.md"),
    Entry("tem-1-whole", "Figure 1 on whole reviews",
          "At ε = 2 models reach 75 % (TEM) and 52 % (Madlib), the attack 0.50 on both.",
          f"{HERE}.tem_whole:whole_reviews", "400 texts a half, 50 dimensions; half a CPU minute",
          "12,500 whole reviews a half; 12 CPU minutes", more="tem_whole.md"),
    Entry("uel-4.1", "Proposition 4.1", "Individual unexpected leakage ≤ e^ε·(p − q).",
          f"{_EXACT}:belief_bound", EXACT, EXACT),
    Entry("uel-4.2", "Corollary 4.2", "Leakage where r > 1, growing with r.",
          f"{_EXACT}:ratio_rises", EXACT, EXACT),
    Entry("uel-5.1", "Theorem 5.1, Corollary 5.3",
          "Label DP-CF has no unexpected leakage; LDP implies it.",
          f"{_EXACT}:conditional_privacy", EXACT, EXACT),
    Entry("uel-5.2", "Theorem 5.2", "Label DP-CF implies label DP: false as stated.",
          f"{_EXACT}:cf_implies_label_dp", EXACT, EXACT),
    Entry("uel-1", "Figure 1",
          "Total leakage above what ε announces, more where features tell the label.",
          f"{HERE}.uel:figure_1", "600 simulated records, 20 features; 1 CPU minute",
          "2,000 records, 100 features; 4 CPU minutes", more="label_figures.md"),
    Entry("uel-2", "Figure 2",
          "Label DP is more useful at equal leakage, except at ε = 0.1 on close features.",
          f"{HERE}.uel_ways:figure_2", "400 records and Breast Cancer, 8 splits; 1 CPU minute",
          "four tables, Adult at two sizes, 2 to 11 splits; 10 CPU minutes",
          more="label_figures.md"),
    Entry("aipo-figures", "Figures 1 to 7", "Drawings of the idea and of proofs.",
          instead="drawings"),
    Entry("aipo-proposition-1", "Propositions 1, 2; Theorem 1; Corollary 1",
          "Log-linear interpolation along an axis and over axes keeps the Lipschitz bound.",
          checked=f"{_TESTS}::test_interpolated_logarithms_keep_the_bound_along_each_axis "
          f"{_TESTS}::test_axes_compose_by_the_dual_norm"),
    Entry("aipo-theorem-2", "Theorem 2, Proposition 3",
          "The interpolated mechanism, normalised at ε/2, has ε-mDP on the whole box.",
          checked=f"{_TESTS}::test_normalising_at_most_doubles_the_bound "
          f"{_TESTS}::test_the_half_is_needed"),
    Entry("aipo-proposition-4", "Proposition 4",
          "A linear surrogate for the loss (its x = x̂ + λ⊙Δ contradicts Definition 3's lower "
          "corner).",
          checked=f"{_TESTS}::test_the_surrogate_is_linear_exact_at_anchors_and_above_the_"
          "logarithmic_one"),
    Entry("aipo-proposition-5", "Proposition 5", "A lower bound on any mechanism's loss.",
          checked="tests/optimise/test_baselines.py::"
          "test_lower_bound_is_below_the_optimum_and_close_to_it", more="aipo_tables.md"),
    Entry("aipo-1", "Table 1",
          "AIPO violates nowhere; LP 0.6–1.9 %, ConstOPT 0.5–4.1 %, AIPO-R 0–11 %.",
          f"{_AIPO}:table_1", "a made-up city, 8×6 cells, 2 seeds; 2 CPU minutes", KEPT,
          more="aipo_tables.md"),
    Entry("aipo-2", "Table 2",
          "AIPO loses 59 % less than EM, 61 % than Laplace, 10 % than the remap.",
          f"{_AIPO}:table_2", "the cells of aipo-1; 2 CPU minutes", KEPT, more="aipo_tables.md"),
    Entry("aipo-3", "Table 3", "AIPO takes 5–80 s, LP 100–430, ConstOPT 136–285.",
          f"{_AIPO}:table_3", "the cells of aipo-1; 2 CPU minutes", KEPT, more="aipo_tables.md"),
    Entry("aipo-code", "The published code",
          "Its outputs are drawn anew while the loss table is read from a file, so methods that "
          "choose by "
          "distance are scored at random.",
          f"{_AIPO}:public_code", "8×6 cells, 20 outputs, 3 seeds; 1 CPU minute",
          "20×15 cells, 10 seeds; 20 CPU minutes"),
)  # fmt: skip


def entry(id: str) -> Entry:
    """The entry of an id."""
    from difflib import get_close_matches

    for one in ENTRIES:
        if one.id == id:
            return one
    near = get_close_matches(id, [one.id for one in ENTRIES], n=1)
    hint = f"; did you mean {near[0]}?" if near else "; `voile reproduce` lists them"
    raise InvalidInput(f"there is no {id!r} among the figures, tables and theorems{hint}")
