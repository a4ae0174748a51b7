"""Run the demo with nothing but what `make demo` installs, and print what it said and called.

As a program of its own: `python demo_alone.py FOLDER`.
"""

import json
import re
import sys
from importlib.metadata import PackageNotFoundError, packages_distributions, requires

from packaging.requirements import Requirement

INSTALLED = ("text", "places", "labels", "report")
SEED = 7


def installed(package, extras=()):
    """The packages that come with one, itself included."""
    found, waiting = set(), [(package, tuple(extras))]
    while waiting:
        name, wanted = waiting.pop()
        if (name, wanted) in found:
            continue
        found.add((name, wanted))
        for line in _required(name):
            needed = Requirement(line)
            if needed.marker is None or any(
                needed.marker.evaluate({"extra": extra}) for extra in (*wanted, "")
            ):
                waiting.append((_plain(needed.name), tuple(sorted(needed.extras))))
    return {name for name, _ in found}


def _required(name):
    try:
        return requires(name) or ()
    except PackageNotFoundError:
        return ()


def _plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


class NotInstalled:
    """Modules of other packages cannot be imported."""

    def __init__(self, allowed):
        self.absent = {
            module
            for module, packages in packages_distributions().items()
            if not {_plain(package) for package in packages} & allowed
        }

    def find_spec(self, name, path=None, target=None):
        """Refuse, or leave it to the next finder."""
        if name.partition(".")[0] in self.absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def main(folder):
    """Go through all rooms."""
    absent = NotInstalled(installed("voile", INSTALLED))
    assert {"torch", "spacy", "transformers", "pandas"} <= absent.absent
    assert not {"numpy", "altair", "sklearn", "numba", "typer"} & absent.absent
    sys.meta_path.insert(0, absent)
    for name in [name for name in sys.modules if name.partition(".")[0] in absent.absent]:
        del sys.modules[name]

    from voile.demo._demo import demo
    from voile.progress import heard_by
    from voile.report.result import plain

    said = []
    with heard_by(lambda step: said.append(step.what) if step.stays else None):
        found = demo(out=folder, seed=SEED)
    calls = [step.result._call for step in found.steps]
    made = [{"name": c.case.name, "given": plain(c.given)} for c in calls]
    json.dump({"said": "\n".join(said), "calls": made}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
