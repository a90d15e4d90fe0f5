"""Irregular verbs are looked up as the verb."""

import pytest

from memforest_ray.facts.irregular import BASE_FORMS
from memforest_ray.facts.words import STOP_WORDS, content_tokens, query_tokens


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("Uma lost the umbrella", "lose"),
        ("Uma sold it", "selling"),
        ("Uma has written it", "writes"),
        ("Uma met him", "meeting"),
        ("Uma chose it", "choose"),
        ("Uma paid it", "pays"),
    ],
)
def test_a_form_is_found_by_any_other(told: str, asked: str) -> None:
    """In a statement and in a question."""
    assert set(query_tokens(asked)) <= set(content_tokens(told))


def test_every_form_has_one_verb() -> None:
    """Which is no form of another, so that nothing is to be looked up twice; none is a word of every text."""
    assert not set(BASE_FORMS) & set(BASE_FORMS.values())
    assert not STOP_WORDS & set(BASE_FORMS)
    assert all(form != base for form, base in BASE_FORMS.items())
