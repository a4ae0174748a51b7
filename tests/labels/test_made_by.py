"""How a release was drawn is read from its guarantee file, and nobody may say otherwise."""

from __future__ import annotations

import json
from typing import Any

import pytest

from voile import labels
from voile.errors import BadFile, InvalidInput, VoileError

pytest.importorskip("sklearn")

CLASSES = ("ill", "well")


@pytest.fixture(params=["rr", "prior", "cf", "ldp", "sample"])
def release(request: Any, patients: Any, public: Any, tmp_path: Any) -> Any:
    """A file released by each mechanism, with what differs from defaults said."""
    name = request.param
    own: dict[str, Any] = {"classes": CLASSES, "pass_": "all"}
    if name in ("cf", "ldp", "sample"):
        own = {"recipe": labels.recipe(public, label="state", mechanism=name)}
    own |= {"prior": (0.3, 0.7)} if name == "prior" else {}
    own |= {"label_share": 0.4} if name in ("cf", "ldp") else {}
    out = tmp_path / "r.csv"
    return labels.protect(
        patients, label="state", epsilon=3, mechanism=name, out=str(out), seed=1, **own
    )


def said(release: Any) -> Any:
    with open(release.output + ".guarantee.json") as file:
        return json.load(file)


def forged(release: Any, **changes: Any) -> None:
    with open(release.output + ".guarantee.json", "w") as file:
        json.dump(said_before(release) | changes, file)


def said_before(release: Any) -> Any:
    return json.loads(json.dumps(release.guarantee_file()))


def test_the_file_says_what_the_reader_would_have_to(release: Any) -> None:
    draws = said(release)["draws"]
    assert (draws["epsilon"], draws["mechanism"]) == (3, release.draws.mechanism)
    by_file = labels.estimate(release.output, recipe=release.by)
    by_word = labels.estimate(
        release.data if release.output is None else _copy(release), recipe=release.by, epsilon=3,
        mechanism=draws["mechanism"], label_share=draws["label_share"], prior=draws["prior"],
    )  # fmt: skip
    assert (by_file.vouched, by_word.vouched) == (True, False)
    assert by_file.classes == by_word.classes
    assert "guarantee file, which was written for this very release" in str(by_file)
    assert "the reader's word, since no guarantee file was read" in str(by_word)
    learned = labels.learn(release.output, recipe=release.by)
    assert learned.vouched
    assert learned.word in str(learned)


def _copy(release: Any) -> str:
    """The released file under another name, so without its guarantee file."""
    with open(release.output) as file, open(release.output + ".copy.csv", "w") as other:
        other.write(file.read())
    return release.output + ".copy.csv"


def test_what_contradicts_it_is_refused(release: Any) -> None:
    draws = release.draws
    same = {"epsilon": draws.epsilon, "mechanism": draws.mechanism}
    share = {} if draws.label_share is None else {"label_share": draws.label_share}
    assert labels.estimate(release.output, recipe=release.by, **same, **share).vouched
    other = "ldp" if draws.mechanism != "ldp" else "cf"
    for wrong in (
        {"epsilon": 2.0},
        {"mechanism": other},
        {"label_share": 0.123},
        {"prior": (0.5, 0.5)},
    ):
        option = "--" + next(iter(wrong)).replace("_", "-")
        with pytest.raises(InvalidInput, match=f"{option} must be what the release's guarantee"):
            labels.estimate(release.output, recipe=release.by, **wrong)
        with pytest.raises(InvalidInput, match=f"{option} must be what the release's guarantee"):
            labels.learn(release.output, recipe=release.by, **wrong)


def test_another_recipe_or_file_is_refused(release: Any, public: Any, tmp_path: Any) -> None:
    mechanism = release.draws.mechanism
    wanted = mechanism if mechanism in ("cf", "ldp", "sample") else "ldp"
    other = labels.recipe(
        public, label="state", mechanism=wanted, levels=3, out=tmp_path / "other.json"
    )
    with pytest.raises(InvalidInput, match="its hash is another"):
        labels.estimate(release.output, recipe=other)
    with open(release.output, "a") as file:
        file.write("\n")
    with pytest.raises(InvalidInput, match="changed since: nothing is known of how its records"):
        labels.estimate(release.output, recipe=release.by)


def test_a_forged_file_is_refused(release: Any) -> None:
    draws = said_before(release)["draws"]
    for change in (
        {"draws": draws | {"epsilon": 2.0}},  # its bounds are then others
        {"draws": draws | {"epsilon": -1.0}},
        {"draws": draws | {"epsilon": "much"}},
        {"draws": draws | {"mechanism": "none such"}},
        {"draws": draws | {"label_share": "half"}},
        {"draws": draws | {"prior": 3}},
        {"draws": {}},
        {"draws": None},
        {"epsilon": {"label": 1.0, "conditional": 1.0, "local": 1.0}},
        {"epsilon": {"label": "x", "conditional": None, "local": None}},
        {"epsilon": None},
        {"domain": "text"},
        {"format": "voile-release/9"},
        {"output_sha256": None},
    ):
        forged(release, **change)
        with pytest.raises(VoileError):
            labels.estimate(release.output, recipe=release.by)
    without = {k: v for k, v in said_before(release).items() if k != "draws"}
    with open(release.output + ".guarantee.json", "w") as file:
        json.dump(without, file)
    with pytest.raises(BadFile, match="must have the field draws"):
        labels.estimate(release.output, recipe=release.by)


def test_a_release_in_memory_is_its_own_word(patients: Any, public: Any) -> None:
    pandas = pytest.importorskip("pandas")
    made = labels.recipe(public, label="state", mechanism="sample")
    frame = pandas.read_csv(patients)
    release = labels.protect(frame, label="state", epsilon=2, mechanism="sample", recipe=made)
    assert labels.estimate(release.data, guarantee=release).vouched
    with pytest.raises(InvalidInput, match="--epsilon must be given: no guarantee file"):
        labels.estimate(release.data, recipe=release.by)
    with pytest.raises(InvalidInput, match="read with its --recipe"):
        labels.estimate(release.data, epsilon=2)
    with pytest.raises(InvalidInput, match="a guarantee file or what protect returned"):
        labels.estimate(release.data, guarantee=3, recipe=release.by)


def test_nothing_need_be_said_where_both_files_lie_beside(patients: Any, tmp_path: Any) -> None:
    out = str(tmp_path / "r.csv")
    asked = {"label": "state", "epsilon": 2, "mechanism": "rr", "classes": CLASSES, "pass_": "all"}
    labels.protect(patients, out=out, **asked)
    assert labels.estimate(out).vouched
