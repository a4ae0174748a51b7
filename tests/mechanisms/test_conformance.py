"""Every mechanism of the folder, by its own examples."""

import pytest

from conformance import check
from voile import mechanisms

EXAMPLES = [
    pytest.param(example, id=f"{name}-{number}")
    for name in mechanisms.__all__
    for number, example in enumerate(mechanisms.module_of(name).examples())
]


@pytest.mark.parametrize("mechanism", EXAMPLES)
def test_conforms(mechanism):
    check(mechanism)
