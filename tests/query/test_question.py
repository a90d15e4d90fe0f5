"""Questions, read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memforest_ray.facts.words import words
from memforest_ray.query.question import Question, topic_of


def test_terms_are_stems_without_stop_words() -> None:
    """Each once, in order."""
    assert Question.of("What did the runner run, and why was Bob running?").terms == ("runner", "run", "bob")


def test_a_question_of_stop_words_keeps_them() -> None:
    """ "Who is who?" asks for something too."""
    assert Question.of("Who is who?").terms == ("who", "is")


def test_words_that_only_ask_are_left_out_in_chinese_and_hindi() -> None:
    """什么, 吗 and क्या stand in no answer."""
    assert "什" not in "".join(Question.of("小明喜欢什么水果吗?").terms)
    assert Question.of("सुनीता क्या पढ़ाती है?").terms == Question.of("सुनीता पढ़ाती").terms


@pytest.mark.parametrize(
    ("text", "wants"),
    [
        ("When did Bob move?", True),
        ("In which year was Ann born?", True),
        ("What month is the fair?", True),
        ("你什么时候搬家?", True),
        ("सुनीता कब आई?", True),
        ("What did Bob do when it rained?", False),
        ("Who knows?", False),
    ],
)
def test_whether_a_time_is_wanted(text: str, wants: bool) -> None:
    """The question asks when."""
    assert Question.of(text).wants_time == wants


def test_one_named_speaker_is_meant() -> None:
    """By any part of the name; two or none are nobody; "I" is the speaker called user."""
    speakers = {0: "Bob Smith", 1: "Ann", 2: "user"}
    assert Question.of("Where is Bob's bicycle?").named(speakers) == 0
    assert Question.of("What does Smith like?").named(speakers) == 0
    assert Question.of("Did Bob meet Ann?").named(speakers) is None
    assert Question.of("Where is the key?").named(speakers) is None
    assert Question.of("Where is my key?").named(speakers) == 2
    assert Question.of("Is Bobby here?").named(speakers) is None


@given(st.text(max_size=300))
def test_any_text_is_a_question(text: str) -> None:
    """Nothing breaks it."""
    assert isinstance(Question.of(text).named({0: "Bob", 1: text}), int | None)


@pytest.mark.parametrize(("text", "speaker"), [("What does Jose play?", "José"), ("Wo wohnt Jürgen?", "Jurgen")])
def test_a_name_is_known_without_its_accents(text: str, speaker: str) -> None:
    """Whichever side leaves them out."""
    assert Question.of(text).names(speaker)


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("Do you remember where Nora works?", "where Nora works?"),
        ("Can you tell me where Nora works?", "where Nora works?"),
        ("What do you know about Nora?", "Nora?"),
        ("What did I tell you about my boss?", "my boss?"),
        ("Remind me of my daughter's name", "my daughter's name"),
        ("What colour is Pixel?", "What is Pixel?"),
        ("What kind of dog does Joe have?", "What dog does Joe have?"),
        ("What happened to Nils?", "What to Nils?"),
        ("What is wrong with Greg?", "What is with Greg?"),
        ("What did Wim think of Stoner?", "What did Wim of Stoner?"),
        ("What did Wim think?", "What did Wim think?"),
        ("What does Bob know?", "What does Bob know?"),
        ("Did Bob remember the keys?", "Did Bob remember the keys?"),
        ("Do you remember?", "Do you remember?"),
        ("What colours does Bob mix?", "What does Bob mix?"),
    ],
)
def test_what_only_frames_a_question_is_not_looked_up(text: str, topic: str) -> None:
    """Nor what says of which form the answer is."""
    assert " ".join(topic_of(text).split()) == topic


@given(st.text(max_size=60))
def test_any_question_keeps_something_to_look_up(text: str) -> None:
    """If it has a word at all."""
    assert bool(Question.of(text).terms) == bool(words(text))
