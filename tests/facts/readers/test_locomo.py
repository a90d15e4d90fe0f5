"""LoCoMo samples."""

from collections.abc import Callable
from typing import Any

from memforest_ray.facts.readers import Conversation
from memforest_ray.facts.sessions import Session, Turn

Read = Callable[..., list[Conversation]]


def sample(name: str) -> dict[str, Any]:
    """An invented sample with all the fields of the format."""
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Ines",
            "speaker_b": "Omar",
            "session_10_date_time": "9:05 am on 2 March, 2022",
            "session_10": [{"speaker": "Omar", "dia_id": "D10:1", "text": "My kiln is fixed."}],
            "session_2_date_time": "12:20 am on 3 January, 2022",
            "session_2": [
                {"speaker": "Ines", "dia_id": "D2:1", "text": "I bought a canoe."},
                {
                    "speaker": "Omar",
                    "dia_id": "D2:2",
                    "text": "Look!",
                    "img_url": ["http://x/y.jpg"],
                    "blip_caption": "a photo of a heron",
                    "query": "heron",
                },
                {"speaker": "Ines", "dia_id": "D2:3", "text": "", "blip_caption": "a lake"},
            ],
            "session_11_date_time": "9:05 am on 2 April, 2022",
            "session_12": [],
        },
        "qa": [{"question": "Who has a canoe?", "answer": "SECRET"}],
        "observation": {"session_2_observation": "SECRET"},
        "event_summary": {"events_session_2": "SECRET"},
        "session_summary": {"session_2_summary": "SECRET"},
    }


def test_a_sample(read: Read) -> None:
    """Sessions in the order of their numbers, turn ids and captions kept, nothing else read."""
    (conversation,) = read([sample("conv-a")])
    assert conversation == Conversation(
        "conv-a",
        (
            Session(
                "session_2",
                [
                    Turn("I bought a canoe.", speaker="Ines", id="D2:1"),
                    Turn("Look! [image: a photo of a heron]", speaker="Omar", id="D2:2"),
                    Turn("[image: a lake]", speaker="Ines", id="D2:3"),
                ],
                "12:20 am on 3 January, 2022",
            ),
            Session(
                "session_10",
                [Turn("My kiln is fixed.", speaker="Omar", id="D10:1")],
                "9:05 am on 2 March, 2022",
            ),
        ),
    )
    assert "SECRET" not in repr(conversation)


def test_several_samples(read: Read) -> None:
    """Each sample is a conversation of its own."""
    assert [c.id for c in read([sample("conv-a"), sample("conv-b")])] == ["conv-a", "conv-b"]


def test_a_bare_conversation(read: Read) -> None:
    """Without a sample around it a conversation is named by the file."""
    (conversation,) = read(sample("x")["conversation"])
    assert (conversation.id, len(conversation.sessions)) == ("chat", 2)
