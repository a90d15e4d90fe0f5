"""What a memory told, fed back to it, is nothing new."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.facts.remembered import without_remembered

FACT, CELL = "f" + "0a" * 10, "cx0001f3f58ec91a5a374"


@pytest.mark.parametrize(
    "line",
    [
        "Bob lives in Davis. (said 1 May 2023)",
        "Bob lives in Davis. (said at an unknown time)",
        "- Bob left Rome (time: 27 May 2019 to 2 June 2019; said 10 June 2019)",
        f"Bob left Rome (time: before 2 June 2019; said 10 June 2019) [{FACT}]",
        f"Bob lives in Davis [{FACT}].",
        f"Bob lives in Davis [{FACT}], [{CELL}].",
        f"Bob: yes (said 1 May 2023) [{CELL}]",
    ],
)
def test_lines_that_a_memory_rendered_are_left_out(line: str) -> None:
    """With what is put around them; what is asked beside them stays."""
    assert without_remembered(f"Relevant memories:\n{line}\n\nWhere does Bob live?") == "\nWhere does Bob live?"
    assert without_remembered(f"<memory>\n{line}\n{line}\n</memory>\nThanks.") == "Thanks."
    assert without_remembered(line) == ""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I said 1 May 2023",
        "We met (on 1 May 2023)",
        "He went (she said so)",
        "see [1] and [f0]",
        "Relevant memories:\nmy first bicycle",
        "<memory>\nno lines of one\n</memory>",
    ],
)
def test_other_lines_stay(text: str) -> None:
    """Whatever they look like, and what stands around them."""
    assert without_remembered(text) == text


@given(st.text())
def test_any_text(text: str) -> None:
    """Lines go whole or stay as they are."""
    left = without_remembered(text).split("\n")
    rest = iter(text.split("\n"))
    assert left == [""] or all(line in rest for line in left)
