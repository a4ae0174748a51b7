"""Every mechanism of the folder, by its own examples."""

from importlib import import_module

import pytest

from conformance import check
from voile.catalogue import mechanism_names

EXAMPLES = [
    pytest.param(example, id=f"{name}-{number}")
    for name in mechanism_names()
    for number, example in enumerate(import_module(f"voile.mechanisms.{name}").examples())
]


@pytest.mark.parametrize("mechanism", EXAMPLES)
def test_conforms(mechanism):
    check(mechanism)
