"""The rule extractor: what is said, by whom, about whom, when."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memforest_ray.facts.candidates import CANDIDATES_MAX, DOMAINS, Candidate, CellInput, Kind, TurnInput
from memforest_ray.facts.rules import RuleExtractor
from memforest_ray.facts.times import Precision
from memforest_ray.ids import CellId

SAID = int(datetime(2023, 6, 9, 19, tzinfo=UTC).timestamp()) * 1000
"""Friday, 9 June 2023."""


def cell(*texts: str, role: str = "user", source_ms: int | None = SAID) -> CellInput:
    """Turns of Ana and Ben, in turn."""
    names = ("Ana", "Ben")
    turns = tuple(TurnInput(index, names[index % 2], role, text, source_ms) for index, text in enumerate(texts))
    return CellInput(CellId("c0"), turns, None, names)


async def found(*texts: str, role: str = "user", source_ms: int | None = SAID) -> tuple[Candidate, ...]:
    extractions = await RuleExtractor().extract([cell(*texts, role=role, source_ms=source_ms)])
    assert [(one.cell_id, one.failure, one.usage.calls) for one in extractions] == [("c0", None, 0)]
    return extractions[0].candidates


async def test_a_statement_with_everything() -> None:
    """A sure statement is retold, dated, and has subject, attribute and value."""
    assert await found("Hey Ben! Guess what, I moved to Davis with Mia O'Neil last week!") == (
        Candidate(
            text="Ana moved to Davis with Mia O'Neil last week.",
            kind=Kind.TRANSITION,
            speaker="Ana",
            role="user",
            turns=(0,),
            subject="Ana",
            attribute="residence",
            value="Davis",
            entities=("Ana", "Davis", "Mia O'Neil"),
            topics=("move",),
            domain="home",
            confidence=0.9,
            event=(await found("Guess what, I sang last week"))[0].event,
        ),
    )


async def test_two_clauses_two_states() -> None:
    """A state that has ended and the one that follows it are two candidates, in the order of their times."""
    before, after = await found("I used to live in Austin, but I moved to Davis in 2021.")
    assert (before.attribute, before.value, before.kind) == ("residence", "Austin", Kind.STATE)
    assert (after.attribute, after.value, after.kind) == ("residence", "Davis", Kind.TRANSITION)
    assert before.event is not None
    assert after.event is not None
    assert (before.event.precision, before.event.expression) == (Precision.RANGE, "used to")
    assert before.event.start_ms < after.event.start_ms
    assert before.event.end_ms == SAID


async def test_the_event_is_resolved_against_the_turn() -> None:
    """Yesterday is the day before the turn was said; without a time nothing is resolved."""
    (dated,) = await found("I went to the clinic yesterday")
    assert dated.event is not None
    assert str(dated.event.start.date()) == "2023-06-08"
    assert dated.kind is Kind.EVENT
    (undated,) = await found("I went to the clinic yesterday", source_ms=None)
    assert undated.event is None
    (absolute,) = await found("I went to the clinic on 8 May 2023", source_ms=None)
    assert absolute.event is not None


async def test_a_limit_is_no_event_time() -> None:
    """What must happen before a day does not happen on it."""
    (limited,) = await found("The roof must be mended before 9 July 2023")
    assert limited.event is None


async def test_what_speaks_on_joins() -> None:
    """A sentence that needs what stands before it is no statement of its own."""
    (whole,) = await found("I ran a charity race last Saturday. It was really rewarding!")
    assert whole.text == "Ana ran a charity race last Saturday. It was really rewarding!"


@pytest.mark.parametrize(
    "text",
    [
        "Thanks!",
        "Wow, that's great!",
        "👍",
        "",
        " \n",
        "Hey Ben, good to see you! How have you been?",
        "What kind of boat is it?",
        "Bye, take care!",
        "What happened? Did you like it?",
        "谢谢！",
        "好的。",
    ],
)
async def test_nothing_said(text: str) -> None:
    """Greetings, thanks, praise and questions give nothing."""
    assert await found(text) == ()


async def test_content_in_a_question() -> None:
    """A question that tells something is heard."""
    (told,) = await found("Did you know I moved to Davis?")
    assert (told.text, told.value) == ("Ana moved to Davis.", "Davis")


async def test_you_is_the_other() -> None:
    """In a talk of two "you" is the other, and the other is among the entities."""
    (told,) = await found("You're allergic to nuts, remember that.")
    assert (told.subject, told.attribute, told.speaker) == ("Ben", "allergy", "Ana")
    assert told.entities == ("Ana", "Ben")


async def test_a_turn_that_only_praises_keeps_its_fullest_clause() -> None:
    """Every turn with content can be found: praise stays where nothing else is said."""
    (kept,) = await found("You must be proud of that lighthouse!")
    assert kept.text == "Ana: You must be proud of that lighthouse!"


async def test_captions() -> None:
    """A caption is content of its own."""
    (caption,) = await found("Look at this! [image: a dog on a beach]")
    assert (caption.text, caption.kind) == ("Ana shared an image: a dog on a beach", Kind.DETAIL)


@pytest.mark.parametrize("role", ["system", "developer", "tool"])
async def test_nobody_says_prompts(role: str) -> None:
    """Prompts and tool results give no candidates."""
    assert await found("The user lives in Davis.", role=role) == ()


async def test_a_long_text_said_twice_is_a_prompt() -> None:
    """Long repeated text gives nothing, short repeated text is said once by each."""
    prompt = "The lighthouse keeper writes down every ship. " * 50
    assert await found(prompt, prompt) == ()
    assert len(await found("The ferry leaves at noon.", "The ferry leaves at noon.")) == 2


async def test_a_cell_gives_at_most_fifteen() -> None:
    """The surest stay, in the order in which they were said."""
    text = " ".join(f"The old barn number {number} stands near the river." for number in range(20))
    candidates = await found(f"{text} I live in Davis.")
    assert len(candidates) == CANDIDATES_MAX
    assert candidates[-1].attribute == "residence"
    assert candidates[0].text == "Ana: The old barn number 0 stands near the river."


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("你好！我叫小明，我住在北京。", "name", "小明"),
        ("我住在北京。", "residence", "北京"),
        ("मैं दिल्ली में रहता हूँ।", "residence", "दिल्ली"),
    ],
)
async def test_other_languages_keep_their_words(text: str, attribute: str, value: str) -> None:
    """Candidates stay in the language of the source, with the speaker's name."""
    candidate = next(one for one in await found(text) if one.attribute)
    assert (candidate.subject, candidate.attribute, candidate.value) == ("Ana", attribute, value)
    assert candidate.text.startswith("Ana: ")


async def test_spanish_is_quoted() -> None:
    """A Latin language that the rules do not know is kept word by word."""
    (kept,) = await found("Ayer compramos un barco viejo")
    assert kept.text == "Ana: Ayer compramos un barco viejo"


async def test_cells_are_extracted_alone() -> None:
    """A cell gives the same candidates whatever is extracted with it."""
    cells = [cell("I live in Davis."), cell("I moved to Rome in 2019.", "Nice! I keep bees.")]
    together = await RuleExtractor().extract(cells)
    assert together == [(await RuleExtractor().extract([one]))[0] for one in cells]
    assert [candidate.turns for candidate in together[1].candidates] == [(0,), (1,)]


PIECES = st.text(st.characters(codec=None), max_size=30) | st.sampled_from(
    [
        "I ",
        "my ",
        "you ",
        "'m ",
        "live in ",
        "Davis",
        ". ",
        "? ",
        " and I ",
        "[image: ",
        "]",
        "我住在",
        "मैं ",
        "last week",
        "\n",
    ]
)


@settings(max_examples=200)
@given(st.lists(PIECES, max_size=12).map("".join), st.lists(PIECES, max_size=4).map("".join), st.text(max_size=8))
async def test_any_text(text: str, reply: str, name: str) -> None:
    """No text raises; what is found is well formed and the same every time."""
    turns = (TurnInput(3, name, "user", text, SAID), TurnInput(4, "Ben", "user", reply, None))
    given_cell = CellInput(CellId("c1"), turns, "Europe/Berlin", (name, "Ben"))
    first, second = await RuleExtractor().extract([given_cell, given_cell])
    assert first == second
    assert len(first.candidates) <= CANDIDATES_MAX
    for candidate in first.candidates:
        assert candidate.text.strip()
        assert candidate.turns in ((3,), (4,))
        assert candidate.domain in DOMAINS
        assert (candidate.attribute is None) == (candidate.subject is None)


async def test_a_long_turn() -> None:
    """A cell of 8,000 characters without any end of a sentence, and one of nothing but ends."""
    assert 0 < len(await found("word " * 1_600)) <= CANDIDATES_MAX
    assert await found("! " * 4_000) == ()


async def test_a_past_state_with_a_limit_ended_then() -> None:
    """What was true until a month is dated by that month, not by a lifetime."""
    said = 1_681_516_800_000  # 2023-04-15
    turn = TurnInput(0, "Bob", "user", "I lived in Davis until January 2022.", said)
    (found,) = await RuleExtractor().extract([CellInput(CellId("c0"), (turn,), None, ("Bob",))])
    (candidate,) = found.candidates

    assert (candidate.attribute, candidate.value) == ("residence", "Davis")
    assert candidate.event is not None
    assert (candidate.event.start.year, candidate.event.start.month, candidate.event.precision) == (2022, 1, "month")


@pytest.mark.parametrize(
    ("text", "dated"),
    [
        ("I lived in Boston until 2019, then I moved to Davis.", True),
        ("I lived in Boston until 2019, and then I moved to Davis.", True),
        ("I lived in Boston until 2019. Then I moved to Davis.", True),
        ("I lived in Boston until 2019. I moved to Davis.", False),
        ("I lived in Boston in 2019, and back then I moved to Davis.", False),
        ("I lived in Boston until 2019, then I moved to Davis last month.", False),
    ],
)
async def test_what_follows_a_past_state_began_when_that_ended(text: str, dated: bool) -> None:
    """ "Until 2019, then": the move was in 2019, not when it was told."""
    turn = TurnInput(0, "Bob", "user", text, 1_705_312_800_000)  # 2024-01-15
    (found,) = await RuleExtractor().extract([CellInput(CellId("c0"), (turn,), None, ("Bob",))])
    moved = found.candidates[-1]

    assert (moved.attribute, moved.value) == ("residence", "Davis")
    assert (moved.event is not None and moved.event.start.year == 2019) is dated


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("The deposit is due by 15 September.", ("2023-09-15", "2023-09-16")),
        ("By Tuesday I need the slides.", ("2023-06-13", "2023-06-14")),
        ("The library is closed until Tuesday.", ("2023-06-09", "2023-06-14")),
        ("The trial was over by 4 March.", None),
        ("I was ill until Tuesday.", None),
        ("I'll paint the fence before Tuesday.", None),
        ("My birthday is 12 November.", None),
        ("The release is planned for 14 December.", ("2023-12-14", "2023-12-15")),
    ],
)
async def test_a_limit_that_lies_ahead_is_when_it_is_due(text: str, days: tuple[str, str] | None) -> None:
    """Of what is over "by" and "until" tell no day on which it was."""
    (one,) = await found(text)
    assert (one.event and (f"{one.event.start:%Y-%m-%d}", f"{one.event.end:%Y-%m-%d}")) == days


async def test_each_of_two_appointments_has_its_own_day() -> None:
    """What one sentence says of two days are two statements."""
    first, second = await found("I had coffee with Iris on Monday and lunch with Omar on Tuesday.")
    assert [one.event and f"{one.event.start:%Y-%m-%d}" for one in (first, second)] == ["2023-06-05", "2023-06-06"]
    assert [one.kind for one in (first, second)] == [Kind.EVENT, Kind.EVENT]
    assert "Omar" in second.text


async def test_an_age_that_says_by_the_way_who_somebody_is() -> None:
    """Two things for sure: the age, and the name, which has no time of its own."""
    told, naming = await found("My cat Pixel turned two last week.")
    assert (told.subject, told.attribute, told.value) == ("Pixel", "age", "2")
    assert naming.text == "Ana's cat is called Pixel."
    assert (naming.subject, naming.attribute, naming.value, naming.event) == ("Ana", "cat", "Pixel", None)
    assert naming.turns == told.turns


async def test_another_thing_told_of_somebody_stands_alone() -> None:
    """It holds the name, and says more."""
    (told,) = await found("My husband Tom moved to Oslo last week.")
    assert (told.subject, told.attribute, told.value) == ("Tom", "residence", "Oslo")


async def test_a_move_that_is_long_over_reaches_back_as_a_state_does() -> None:
    """Not when it was told."""
    (moved,) = await found("I moved to Davis when I was a kid.")
    assert moved.kind is Kind.TRANSITION
    assert moved.event is not None
    assert moved.event.open_start


async def test_the_talk_decides_what_we_moved_to() -> None:
    """A question about software before it, and it is no town."""
    (tool,) = await found("What do you use for CI?", "Last month we moved to Trefoil.")
    assert tool.attribute is None
    (town,) = await found("How do you like it there?", "Last month we moved to Trefoil.")
    assert (town.attribute, town.value) == ("residence", "Trefoil")
