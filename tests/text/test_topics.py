"""Whether topics are still right: judged by what did not see the row, on what was released."""

import numpy as np
import pytest

from voile.core.randomness import seeded_rng
from voile.errors import InvalidInput
from voile.text.options import Restoring, Words
from voile.text.topics import TextVectors, topic_use
from voile.text.workbench import open_bench

WORDS = 48


@pytest.fixture(scope="module")
def vocabulary(tmp_path_factory):
    """Two far groups of words, close to each other within a group."""
    rng = np.random.default_rng(3)
    centres = np.where(np.arange(WORDS)[:, None] < WORDS // 2, 1.0, -1.0)
    points = 4.0 * centres * np.eye(6)[0] + rng.normal(scale=0.5, size=(WORDS, 6))
    path = tmp_path_factory.mktemp("topics") / "words.txt"
    names = [f"w{chr(97 + k // 26)}{chr(97 + k % 26)}" for k in range(WORDS)]
    path.write_text(
        "".join(
            f"{name} {' '.join(f'{x:.4f}' for x in row)}\n"
            for name, row in zip(names, points, strict=True)
        )
    )
    return path, names


def rows(names, count=240, seed=0, noise=False):
    rng = np.random.default_rng(seed)
    made = []
    for k in range(count):
        side = k % 2
        own = rng.choice(names[side * WORDS // 2 : (side + 1) * WORDS // 2], size=6)
        label = str(rng.integers(2)) if noise else ("left", "right")[side]
        made.append({"text": " ".join(own), "label": label, "same": "x", "id": str(k)})
    return made


def bench_of(vocabulary, data):
    return open_bench(data, "text", words=Words(vocabulary=str(vocabulary[0]), language="en"))


def test_use_grows_from_a_guess_to_that_of_the_originals(vocabulary):
    data = rows(vocabulary[1])
    bench = bench_of(vocabulary, data)
    found = topic_use(bench.at, (0.001, 0.3, 50.0), data, "text", label="label")
    assert found.originals == 1.0
    assert found.guess == 0.5
    assert found.rows == 240
    assert found.right[0] < 0.7
    assert found.right[-1] == 1.0, "at a huge ε words are kept"
    assert list(found.right) == sorted(found.right)
    assert 0 < found.within < 0.1


def test_no_row_is_judged_by_what_was_trained_on_it(vocabulary):
    """Labels that say nothing cannot be named, however many features there are."""
    data = rows(vocabulary[1], noise=True)
    bench = bench_of(vocabulary, data)
    found = topic_use(bench.at, (50.0,), data, "text", label="label")
    # 240 fair coins: below 0.7 but for one in 10^9
    assert found.originals < 0.7
    assert found.right[0] < 0.7


def test_without_labels_a_topic_is_a_group_of_public_words(vocabulary):
    data = rows(vocabulary[1])
    bench = bench_of(vocabulary, data)
    found = topic_use(bench.at, (0.001, 50.0), data, "text")
    assert found.by == ""
    assert found.originals == 1.0
    assert found.right[1] > 0.95
    assert found.right[0] < 0.8


def test_what_is_judged_is_what_a_release_says(vocabulary):
    """The share is that of the release with the same seed, judged by hand."""
    data = rows(vocabulary[1], count=60)
    bench = bench_of(vocabulary, data)
    found = topic_use(bench.at, (0.4,), data, "text", label="label")
    texts = [row["text"] for row in data]
    read = TextVectors(bench.vocabulary)
    made = read([one.text for one in bench.at(0.4).release_texts(texts, seeded_rng(0))])
    clean, labels = read(texts), np.array([row["label"] for row in data])
    middle = {name: clean[labels == name].mean(axis=0) for name in ("left", "right")}
    named = np.where(made @ middle["left"] > made @ middle["right"], "left", "right")
    assert found.right[0] == pytest.approx((named == labels).mean(), abs=0.08)


def test_a_bench_judges_its_own_column(vocabulary):
    data = rows(vocabulary[1], count=40)
    found = bench_of(vocabulary, data).use(data, label="label")
    assert len(found.epsilons) == len(found.right) == 17
    assert found.by == "label"


@pytest.mark.parametrize(
    ("count", "label", "said"),
    [
        (4, None, "at least 10 texts"),
        (40, "same", "2 to 50 different labels"),
        (240, "id", "2 to 50 different labels"),
        (40, "none", "none"),
    ],
)
def test_what_is_no_topic_is_refused(vocabulary, count, label, said):
    data = rows(vocabulary[1], count=count)
    with pytest.raises(InvalidInput, match=said):
        topic_use(bench_of(vocabulary, data).at, (1.0,), data, "text", label=label)


def test_restored_previews_are_read_with_the_public_text(vocabulary, tmp_path):
    """As protect reads them: what context gains on held-out public text decides what fits."""
    data = rows(vocabulary[1], count=30)
    public = tmp_path / "public.csv"
    lines = [row["text"] for row in rows(vocabulary[1], count=400, seed=9)]
    public.write_text("text\n" + "\n".join(lines) + "\n")
    words = Words(vocabulary=str(vocabulary[0]), language="en")
    restoring = Restoring(restore="reading", public=str(public))
    bench = open_bench(data, "text", words=words, restoring=restoring)
    restorer = bench.at(2.0).restorer
    assert restorer is not None
    assert bench.prior.used.file == "public.csv"
    assert restorer.expected is not None, "so that a prior that does not fit is noticed"
    plain = open_bench(data, "text", words=words)
    drawn, read = (one.preview(2.0, count=30) for one in (plain, bench))
    assert drawn != read, "the same draws, read as a whole"
