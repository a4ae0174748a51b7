"""Figure 1 of the TEM paper: accuracy and membership attack against epsilon, on IMDB.

    python benchmarks/tem_imdb.py [--reviews 2500] [--words 100] [--top 10000] [--seeds 5]

Needs torch and matplotlib, and IMDB as `train.csv.gz` and `test.csv.gz` in ../shared/data/imdb
(or --data). As in the paper (appendix C): the target is trained on privatised TR1 and tested on
original TE1; the shadow is trained on TE2; the attack learns from the shadow's outputs on TE2
("in") and TE1 ("out") and is tested with the target's on TR1 ("in") and TR2 ("out"). Classifier:
mean of word vectors, then a linear layer, 20 epochs, batches of 64, Adam. Attack: 2 × 64 units.
Smaller than the paper, which has 12,500 whole reviews a half and 300 dimensions: that takes
`--reviews 12500 --words 5000 --top 50000`, and hours for Madlib's nearest words.
Writes benchmarks/results/tem_imdb.md and .svg.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import time
from pathlib import Path

import numpy as np
import torch

import voile
from voile.attackers.shadow import Outputs, shadow_attack
from voile.audit.membership import membership
from voile.mechanisms import madlib, word_truncated_exponential
from voile.mechanisms._neighbours import neighbours_of
from voile.text import Vocabulary, glove
from voile.text.tokens import Tokenizer

EPSILONS = (1.0, 2.0, 3.0, 4.0, 8.0, 16.0)
Texts = list[np.ndarray]


def read(path: Path, count: int, longest: int, words: Vocabulary) -> tuple[Texts, np.ndarray]:
    """`count` reviews in a fixed random order, as positions; and their labels.

    The file has one label first and then the other, so the order matters.
    """
    tokenizer = Tokenizer(words)
    with gzip.open(path, "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    texts, labels = [], []
    for i in np.random.default_rng(0).permutation(len(rows)):
        pieces = tokenizer.split(rows[i]["text"])
        tokens = [piece.position for piece in pieces if not isinstance(piece, str)]
        if tokens and len(texts) < count:
            texts.append(np.array(tokens[:longest]))
            labels.append(int(rows[i]["label"]))
        if len(texts) == count:
            break
    return texts, np.array(labels)


class Averaged(torch.nn.Module):
    """The fastText classifier: the mean of learnt vectors, then one linear layer."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.bag = torch.nn.EmbeddingBag(size, 50, mode="mean", sparse=False)
        self.out = torch.nn.Linear(50, 2)

    def forward(self, flat: torch.Tensor, starts: torch.Tensor) -> torch.Tensor:
        """Scores of the two classes for each text."""
        return self.out(self.bag(flat, starts))


def batch(texts: Texts, rows: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    chosen = [texts[i] for i in rows]
    starts = np.cumsum([0] + [len(t) for t in chosen[:-1]])
    return torch.from_numpy(np.concatenate(chosen)), torch.from_numpy(starts)


def train(texts: Texts, labels: np.ndarray, size: int, seed: int, epochs: int = 20) -> Averaged:
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    model = Averaged(size)
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
            loss.backward()
            optimiser.step()
    return model


def outputs(model: Averaged, texts: Texts, labels: np.ndarray) -> Outputs:
    with torch.no_grad():
        scores = model(*batch(texts, np.arange(len(texts))))
        return Outputs(torch.softmax(scores.double(), dim=1).numpy(), labels)


def interval(values: list[float]) -> str:
    """Mean and 95 % interval over trials (Student's t)."""
    from scipy.stats import t

    half = t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values))
    return f"{np.mean(values):.3f} ± {half:.3f}"


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--data", type=Path)
    options.add_argument("--reviews", type=int, default=2500)
    options.add_argument("--words", type=int, default=100)
    options.add_argument("--top", type=int, default=10_000)
    options.add_argument("--seeds", type=int, default=5)
    chosen = options.parse_args()
    here = Path(__file__).resolve().parent
    data = chosen.data or here.parent.parent / "shared" / "data" / "imdb"
    torch.set_num_threads(1)
    words = glove(top=chosen.top)
    size = len(words) + 1
    half = chosen.reviews
    train_texts, train_labels = read(data / "train.csv.gz", 2 * half, chosen.words, words)
    test_texts, test_labels = read(data / "test.csv.gz", 2 * half, chosen.words, words)
    tr1, tr2 = (train_texts[:half], train_labels[:half]), (train_texts[half:], train_labels[half:])
    te1, te2 = (test_texts[:half], test_labels[:half]), (test_texts[half:], test_labels[half:])
    near = neighbours_of(words.embedding)
    laws = {"baseline": {0.0: None}}
    laws["TEM"] = {
        e: word_truncated_exponential(words.embedding, epsilon=e, neighbours=near) for e in EPSILONS
    }
    laws["Madlib"] = {e: madlib(words.embedding, epsilon=e) for e in EPSILONS}
    found: dict[tuple[str, float], dict[str, list[float]]] = {}
    start = time.time()
    for seed in range(chosen.seeds):
        rng = voile.seeded_rng(seed)
        shadow = train(*te2, size, seed + 100)
        attack = shadow_attack([outputs(shadow, *te2)], [outputs(shadow, *te1)], seed=seed)
        for name, by_epsilon in laws.items():
            for epsilon, law in by_epsilon.items():
                texts, kept = tr1[0], 1.0
                if law is not None:
                    flat = np.concatenate(texts)
                    drawn = law.release(flat, rng)
                    kept = float((drawn == flat).mean())
                    texts = np.split(drawn, np.cumsum([len(t) for t in texts])[:-1])
                model = train(texts, tr1[1], size, seed)
                guess = outputs(model, *te1).probabilities.argmax(axis=1)
                audit = membership(
                    attack, members=outputs(model, *tr1), others=outputs(model, *tr2)
                )
                cell = found.setdefault((name, epsilon), {"accuracy": [], "auc": [], "kept": []})
                cell["accuracy"].append(float((guess == te1[1]).mean()))
                cell["auc"].append(audit.auc)
                cell["kept"].append(kept)
                print(
                    f"{time.time() - start:6.0f} s seed {seed} {name} {epsilon:g}: accuracy "
                    f"{cell['accuracy'][-1]:.3f} AUC {audit.auc:.3f} kept {kept:.3f}",
                    flush=True,
                )
    write(here / "results", found, chosen, time.time() - start)


def write(
    folder: Path,
    found: dict[tuple[str, float], dict[str, list[float]]],
    chosen: argparse.Namespace,
    seconds: float,
) -> None:
    lines = [
        "# TEM against Madlib on IMDB",
        "",
        f"`python benchmarks/tem_imdb.py --reviews {chosen.reviews} --words {chosen.words} "
        f"--top {chosen.top} --seeds {chosen.seeds}`, {seconds:.0f} s.",
        f"{chosen.reviews:,} reviews a half, first {chosen.words} words of each, "
        f"{chosen.top:,} words of GloVe 50d; mean and 95 % interval over {chosen.seeds} trials.",
        "",
        "| mechanism | ε | words kept | accuracy | attack AUC |",
        "| --- | --- | --- | --- | --- |",
    ]
    for (name, epsilon), cell in found.items():
        shown = "–" if name == "baseline" else f"{epsilon:g}"
        lines.append(
            f"| {name} | {shown} | {np.mean(cell['kept']):.3f} | {interval(cell['accuracy'])} | "
            f"{interval(cell['auc'])} |"
        )
    folder.mkdir(exist_ok=True)
    (folder / "tem_imdb.md").write_text("\n".join(lines) + "\n")
    chart(folder / "tem_imdb.svg", found)


def chart(path: Path, found: dict[tuple[str, float], dict[str, list[float]]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from scipy.stats import t

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
    for axis, what, title in zip(
        axes, ("accuracy", "auc"), ("accuracy on originals", "membership attack, AUC"), strict=True
    ):
        base = found["baseline", 0.0][what]
        axis.axhline(np.mean(base), color="0.4", linestyle="--", label="baseline")
        for name, colour in (("TEM", "tab:blue"), ("Madlib", "tab:orange")):
            points = [(e, cell[what]) for (n, e), cell in found.items() if n == name]
            values = np.array([cell for _, cell in points])
            scale = t.ppf(0.975, values.shape[1] - 1) / np.sqrt(values.shape[1])
            half = scale * values.std(axis=1, ddof=1)
            axis.errorbar(
                [e for e, _ in points],
                values.mean(axis=1),
                yerr=half,
                marker="o",
                capsize=3,
                label=name,
                color=colour,
            )
        axis.axhline(0.5, color="0.8", linewidth=0.8)
        axis.set_xscale("log", base=2)
        axis.set_xticks(EPSILONS, [f"{e:g}" for e in EPSILONS])
        axis.set_xlabel("ε per word and unit of distance")
        axis.set_title(title)
    axes[0].legend(frameon=False)
    figure.savefig(path)
    figure.savefig(path.with_suffix(".png"), dpi=110)


if __name__ == "__main__":
    main()
