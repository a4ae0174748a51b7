"""The text screen: what the bench of texts answers, for one file and one way to read it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from voile.core.rounding import at_most, exp_upwards, product_upwards
from voile.errors import InvalidInput
from voile.leakage.word_curves import WordCurves
from voile.studio.asking import Exactly, Law, Look, Preview, Topic
from voile.studio.desk import Desk, Latest
from voile.text.options import Names, Restoring, Words
from voile.text.pieces_shown import ShownText
from voile.text.topics import TopicUse
from voile.text.workbench import Figures, LawShown, TextBench, open_bench


@dataclass(frozen=True)
class Meant:
    """What an epsilon allows between words as near as half, and as one in twenty, are."""

    median: str
    five_percent: str


@dataclass(frozen=True)
class BenchShown:
    """What the page must know of texts and vocabulary before it draws anything."""

    texts: int
    words: int
    vocabulary: str
    language: str
    levels: tuple[str, ...]
    factors: tuple[float | None, ...]
    nearest_median: float | None
    nearest_five_percent: float | None
    epsilons: tuple[float, ...]
    seed: int = 0


@dataclass(frozen=True)
class Drawn:
    """Texts at a strength, seeded, and what that strength means at the vocabulary's distances."""

    epsilon: float
    texts: tuple[ShownText, ...]
    meant: Meant
    stamp: str = "Preview, seeded: not a release, written nowhere"


@dataclass(frozen=True)
class ReaderShown:
    """The best reader of single words, at some strengths."""

    epsilons: tuple[float, ...]
    named: tuple[float, ...]


@dataclass(frozen=True)
class NotJudged:
    """Why nobody can say how often topics are right here."""

    why: str


@dataclass
class TextScreen:
    """Answers about the open file; heavy work waits in line, and only the latest is done."""

    desk: Desk
    opening: Latest = field(default_factory=Latest)
    drawing: Latest = field(default_factory=Latest)
    reading: Latest = field(default_factory=Latest)
    settling: Latest = field(default_factory=Latest)
    judging: Latest = field(default_factory=Latest)
    remapping: Latest = field(default_factory=Latest)
    curves_known: dict[Any, Any] = field(default_factory=dict)
    """They follow from the public vocabulary, whatever file is open."""

    def look(self, asked: Look) -> BenchShown:
        """Read the first texts and load their vocabulary."""
        return self.opening.do(lambda: self._shown(self._bench(asked)), asked)

    def curves(self, asked: Look) -> WordCurves:
        """Curves over epsilon; they depend on the vocabulary, not on the texts."""
        bench = self.opening.do(lambda: self._bench(asked), asked)
        return self.reading.do(lambda: self._once("curves", bench, bench.curves), asked)

    def reader(self, asked: Look) -> ReaderShown:
        """The exact reader's success, at every second of the strengths."""
        bench = self.opening.do(lambda: self._bench(asked), asked)
        work = lambda: self._once("reader", bench, bench.reader)  # noqa: E731
        return ReaderShown(*self.reading.do(work, asked))

    def use(self, look: Look, asked: Topic) -> TopicUse | NotJudged:
        """How often topics are still right, over the strengths; of this file's own rows."""
        bench = self._bench(look)

        def judge(path: str) -> TopicUse | NotJudged:
            try:
                return bench.use(path, label=asked.label)
            except InvalidInput as refused:  # of some files nobody can say; the rest is shown
                return NotJudged(str(refused))

        found: TopicUse | NotJudged = self.judging.do(
            lambda: self.desk.once(("use", look, asked), judge), (look, asked)
        )
        return found

    def preview(self, look: Look, asked: Preview) -> Drawn:
        """Some texts before and after."""
        bench = self._bench(look)

        def draw() -> tuple[ShownText, ...]:
            return bench.preview(
                asked.epsilon, seed=asked.seed, first=asked.first, count=min(asked.count, 20),
                remap=asked.remap,
            )  # fmt: skip

        line = self.remapping if asked.remap else self.drawing
        return Drawn(asked.epsilon, line.do(draw), meant(bench, asked.epsilon))

    def figures(self, look: Look, asked: Exactly) -> Figures:
        """The exact figures at a strength, once the page has settled on one."""
        bench = self._bench(look)
        return self.settling.do(lambda: bench.figures(asked.epsilon, reader=asked.reader))

    def law(self, look: Look, asked: Law) -> LawShown:
        """What one word may come out as."""
        with self.drawing.lock:
            return self._bench(look).law(asked.word, asked.level, asked.epsilon)

    def _bench(self, asked: Look) -> TextBench:
        return self.desk.once(
            ("bench", asked),
            lambda path: open_bench(
                path,
                asked.column,
                mechanism=asked.mechanism,
                words=Words(
                    language=asked.language,
                    find=asked.find,
                    keep_stopwords=asked.keep_stopwords,
                    remap=asked.remap,
                ),
                names=Names(tiers=asked.tiers, pseudonyms=asked.pseudonyms),
                restoring=Restoring(
                    restore=asked.restore, public=asked.public, public_column=asked.public_column
                ),
            ),
        )

    def _once(self, what: str, bench: TextBench, work: Any) -> Any:
        """Curves once for a vocabulary, a law, its weakest level and what is left in clear."""
        vocabulary, law = bench.vocabulary.embedding.digest, bench.settings.mechanism.name
        key = (what, vocabulary, law, bench.factor, bench.in_clear)
        if key not in self.curves_known:
            self.curves_known[key] = work()
        return self.curves_known[key]

    def _shown(self, bench: TextBench) -> BenchShown:
        nearest = bench.nearest
        protector = bench.at(bench.epsilons()[0])
        return BenchShown(
            len(bench.texts),
            len(bench.vocabulary),
            bench.vocabulary.name,
            bench.settings.language,
            protector.levels,
            bench.settings.alphas or (1.0,),
            nearest.median,
            nearest.five_percent,
            bench.epsilons(),
        )


def meant(bench: TextBench, epsilon: float) -> Meant:
    """The odds between nearest words, at the weakest level: e^(ε·d), rounded up."""
    weakest = product_upwards(bench.factor, epsilon)

    def odds(distance: float | None) -> str:
        if distance is None:
            return "not bounded"
        exponent = product_upwards(weakest, distance)
        factor = exp_upwards(exponent)
        whole = f" = {at_most(factor, digits=3)}" if factor < 1e6 else ""
        return f"e^{at_most(exponent, digits=3)}{whole}"

    return Meant(odds(bench.nearest.median), odds(bench.nearest.five_percent))
