"""Capital letters, for patterns."""

import re

from memforest_ray.facts.letters import UPPER


def test_capitals_are_those_of_every_alphabet_that_has_them() -> None:
    """As `str.isupper` has it, far beyond ASCII; small letters, digits and scripts without case are none."""
    capital = re.compile(f"[{UPPER}]")
    assert all(capital.fullmatch(letter) for letter in "AZÉÖŁİŠŻČĞΩЖ")
    assert not any(capital.fullmatch(letter) for letter in "azéöłıšżčğωж09_ -]北क")
