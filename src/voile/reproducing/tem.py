"""TEM's figure: accuracy and membership attack against epsilon, on IMDB or on messages of ours.

As in the paper (appendix C): the target is trained on privatised TR1 and tested on original TE1;
the shadow is trained on TE2; the attack learns from the shadow's outputs on TE2 ("in") and TE1
("out") and is tested with the target's on TR1 ("in") and TR2 ("out"). Classifier: mean of word
vectors, then a linear layer, 20 epochs, batches of 64, Adam. Attack: 2 × 64 units.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from voile.core.arrays import Indices
from voile.core.randomness import seeded_rng
from voile.mechanisms import madlib, word_truncated_exponential
from voile.mechanisms._neighbours import neighbours_of
from voile.reproducing.experiment import (
    Claim,
    Found,
    Measured,
    Row,
    Work,
    above,
    mean_with_interval,
)
from voile.text import Vocabulary, glove
from voile.text.reading import texts_of, values_of
from voile.text.tokens import Tokenizer
from voile.text.vocabulary_names import find_vocabulary

EPSILONS = (1.0, 2.0, 3.0, 4.0, 8.0, 16.0)
FILE = "tem_imdb.jsonl"
NOTHING = ("", "")
Texts = list[Indices]
Labelled = tuple[Texts, Indices]


def reviews(path: Path) -> tuple[list[str], Indices]:
    """The reviews of a file of IMDB and their labels, in a fixed random order."""
    texts = texts_of(path, "text")
    labels = values_of(path, "label", "labels", rows=len(texts)) or []
    order = np.random.default_rng(0).permutation(len(texts))  # the file has one label first
    return [texts[i] for i in order], np.array([int(labels[i]) for i in order])


def tokens(
    texts: list[str], labels: Indices, count: int, longest: int, words: Vocabulary
) -> Labelled:
    """The first `count` texts with a known word, as positions; and their labels."""
    tokenizer = Tokenizer(words)
    found: Texts = []
    kept: list[int] = []
    for text, label in zip(texts, labels.tolist(), strict=True):
        pieces = tokenizer.split(text)
        own = [piece.position for piece in pieces if not isinstance(piece, str)]
        if own and len(found) < count:
            found.append(np.array(own[:longest]))
            kept.append(label)
        if len(found) == count:
            break
    return found, np.array(kept)


def averaged(size: int) -> Any:
    """The fastText classifier: the mean of learnt vectors, then one linear layer."""
    import torch

    class Averaged(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.bag = torch.nn.EmbeddingBag(size, 50, mode="mean", sparse=False)
            self.out = torch.nn.Linear(50, 2)

        def forward(self, flat: Any, starts: Any) -> Any:
            return self.out(self.bag(flat, starts))

    return Averaged()


def batch(texts: Texts, rows: Indices) -> tuple[Any, Any]:
    """Texts side by side, and where each starts."""
    import torch

    chosen = [texts[i] for i in rows]
    starts = np.cumsum([0] + [len(t) for t in chosen[:-1]])
    return torch.from_numpy(np.concatenate(chosen)), torch.from_numpy(starts)


def train(texts: Texts, labels: Indices, size: int, seed: int, epochs: int = 20) -> Any:
    """A classifier of these texts."""
    import torch

    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    model = averaged(size)
    optimiser = torch.optim.Adam(model.parameters())
    targets = torch.from_numpy(labels)
    for _ in range(epochs):
        order = rng.permutation(len(texts))
        for start in range(0, len(texts), 64):
            rows = order[start : start + 64]
            loss = torch.nn.functional.cross_entropy(
                model(*batch(texts, rows)), targets[torch.from_numpy(rows)]
            )
            optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
    return model


def outputs(model: Any, texts: Texts, labels: Indices) -> Any:
    """What a model says of texts, as the attack sees it."""
    import torch

    from voile.attackers.shadow import Outputs

    with torch.no_grad():
        scores = model(*batch(texts, np.arange(len(texts))))
        return Outputs(torch.softmax(scores.double(), dim=1).numpy(), labels)


MADE_UP = 1000
"""Messages of ours a half; there are 5,000 different ones in all."""


@dataclass(frozen=True)
class Sizes:
    """How large: texts a half, words of each, words of GloVe, and their dimensions."""

    reviews: int = 2500
    words: int = 100
    top: int = 10_000
    dimensions: int = 50

    def setting(self, data: str, mechanism: str, epsilon: float, seed: int) -> Row:
        """What tells one cell from others."""
        return asdict(self) | {
            "data": data, "mechanism": mechanism, "epsilon": epsilon, "seed": seed
        }  # fmt: skip


class Bench:
    """The four halves, laws and shadows, made once; and one way to run a cell."""

    def __init__(self, sizes: Sizes, data: Path | None) -> None:
        self.sizes, self.data = sizes, data
        self.attacks: dict[int, Any] = {}

    @cached_property
    def words(self) -> Vocabulary:
        """The vocabulary: 100 dimensions are from npm's package, installed where this is run."""
        if self.sizes.dimensions == 50:
            return glove(top=self.sizes.top)
        name = f"glove-{self.sizes.dimensions}d"
        return find_vocabulary(name, language="en", top=self.sizes.top, metric="euclidean")

    @cached_property
    def near(self) -> Any:
        """Each word's neighbours, for all epsilons."""
        return neighbours_of(self.words.embedding)

    @cached_property
    def halves(self) -> tuple[Labelled, Labelled, Labelled, Labelled]:
        """TR1, TR2, TE1, TE2."""
        half = self.sizes.reviews
        if self.data is None:
            from voile.text.sample_messages import messages

            known = messages(4 * half, seed=0)
            tones = sorted({message.tone for message in known})
            labels = np.array([tones.index(message.tone) % 2 for message in known])
            texts, labels = self._read([message.text for message in known], labels, 4 * half)
            cuts = [slice(i * half, (i + 1) * half) for i in range(4)]
            one, two, three, four = ((texts[c], labels[c]) for c in cuts)
            return one, two, three, four
        first, second = (
            self._read(*reviews(self.data / name), 2 * half)
            for name in ("train.csv.gz", "test.csv.gz")
        )
        cut = slice(None, half), slice(half, None)
        one, two = ((first[0][c], first[1][c]) for c in cut)
        three, four = ((second[0][c], second[1][c]) for c in cut)
        return one, two, three, four

    def _read(self, texts: list[str], labels: Indices, count: int) -> Labelled:
        return tokens(texts, labels, count, self.sizes.words, self.words)

    def attack(self, seed: int) -> Any:
        """The membership attack that a shadow of this seed teaches."""
        from voile.attackers.shadow import shadow_attack

        if seed not in self.attacks:
            _, _, te1, te2 = self.halves
            shadow = train(*te2, len(self.words) + 1, seed + 100)
            self.attacks[seed] = shadow_attack(
                [outputs(shadow, *te2)], [outputs(shadow, *te1)], seed=seed
            )
        return self.attacks[seed]

    def run(self, mechanism: str, epsilon: float, seed: int) -> Row:
        """Accuracy of a model trained on what was released, and how well it is attacked."""
        from voile.audit.membership import membership

        tr1, tr2, te1, _ = self.halves
        texts, kept = tr1[0], 1.0
        if mechanism != "baseline":
            law: Any = (
                madlib(self.words.embedding, epsilon=epsilon)
                if mechanism == "Madlib"
                else word_truncated_exponential(
                    self.words.embedding, epsilon=epsilon, neighbours=self.near
                )
            )
            flat = np.concatenate(texts)
            drawn = law.release(flat, _draws(mechanism, epsilon, seed))
            kept = float((drawn == flat).mean())
            texts = np.split(drawn, np.cumsum([len(t) for t in texts])[:-1])
        model = train(texts, tr1[1], len(self.words) + 1, seed)
        guess = outputs(model, *te1).probabilities.argmax(axis=1)
        members, others = outputs(model, *tr1), outputs(model, *tr2)
        audit = membership(self.attack(seed), members=members, others=others)
        return {"accuracy": float((guess == te1[1]).mean()), "auc": audit.auc, "kept": kept}


def figure_1(work: Work) -> Found:
    """Accuracy and AUC of TEM and Madlib at equal ε."""
    data = work.file("imdb") if work.small else work.needed("imdb", "train.csv.gz").parent
    small = Sizes(2000 if data else MADE_UP, 100, 5000)
    sizes = small if work.small else Sizes(12_500, 5000, 50_000)
    epsilons, seeds = ((2.0, 4.0, 8.0), 3) if work.small else (EPSILONS, 5)
    bench = Bench(sizes, data)
    found: dict[tuple[str, float], list[Row]] = {}
    ways = [("baseline", 0.0), *((name, e) for name in ("TEM", "Madlib") for e in epsilons)]
    for seed in range(seeds):
        for name, epsilon in ways:
            setting = sizes.setting("imdb" if data else "messages", name, epsilon, seed)
            found.setdefault((name, epsilon), []).append(
                work.cell(FILE, setting, partial(bench.run, name, epsilon, seed))
            )
    theirs = {("TEM", 2.0): ("0.75", "0.50"), ("Madlib", 2.0): ("0.52", "0.50")}
    accuracy = {way: _over(way, rows, "accuracy", theirs.get(way, NOTHING)[0])
                for way, rows in found.items()}  # fmt: skip
    auc = {way: _over(way, rows, "auc", theirs.get(way, NOTHING)[1]) for way, rows in found.items()}
    ahead = [above(accuracy["TEM", e], accuracy["Madlib", e]) for e in epsilons]
    told = [value for value in ahead if value is not None]
    return Found(
        f"{'IMDB' if data else 'made-up messages, their tone'}, {sizes.reviews:,} texts a half, "
        f"first {sizes.words} words, GloVe 50d of {sizes.top:,} words; 95 % over {seeds} trials",
        [*accuracy.values(), *(auc[way] for way in auc if way[1] in (0.0, 2.0))],
        [
            Claim("at equal ε TEM trains the better model", all(told) if told else None),
            Claim("at ε = 2 already", ahead[epsilons.index(2.0)]),
            Claim("at ε = 2 the attack is at chance for both", all(
                (m.lower or 0) <= 0.52 and (m.upper or 1) >= 0.48
                for m in (auc["TEM", 2.0], auc["Madlib", 2.0]))),
        ],
    )  # fmt: skip


def _over(way: tuple[str, float], rows: list[Row], field: str, theirs: str) -> Measured:
    called = {"accuracy": "accuracy", "auc": "the attack's AUC"}[field]
    name = way[0] if way[0] == "baseline" else f"{way[0]} at ε = {way[1]:g}"
    return mean_with_interval(f"{name}: {called}", [row[field] for row in rows], theirs)


def _draws(mechanism: str, epsilon: float, seed: int) -> Any:
    """A generator of each cell's own, so that what a cell gives does not depend on the others."""
    return seeded_rng((seed * 10_000 + round(100 * epsilon)) * 2 + (mechanism == "Madlib"))
