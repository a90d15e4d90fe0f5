"""Claude's export."""

from collections.abc import Callable

from memforest_ray.facts.readers import Conversation
from memforest_ray.facts.sessions import Session, Turn

Read = Callable[..., list[Conversation]]


def test_an_export(read: Read) -> None:
    """Senders become roles; parts, attachments and files are kept or noted; empty chats are left out."""
    export = [
        {
            "uuid": "u1",
            "name": "Kites",
            "created_at": "2024-03-01T09:00:00.123456Z",
            "chat_messages": [
                {
                    "uuid": "m1",
                    "sender": "human",
                    "text": "ignored when there is content",
                    "content": [{"type": "text", "text": "Read this"}],
                    "created_at": "2024-03-01T09:00:01Z",
                    "attachments": [{"file_name": "notes.txt", "extracted_content": "wind is west"}],
                    "files": [{"file_name": "kite.png"}],
                },
                {"uuid": "m2", "sender": "assistant", "text": "Done.", "content": [], "attachments": []},
            ],
        },
        {"uuid": "u2", "name": "", "chat_messages": []},
    ]
    assert read(export, "export.json") == [
        Conversation(
            "export",
            (
                Session(
                    "u1",
                    [
                        Turn(
                            "Read this\n[file: notes.txt]\nwind is west\n[file: kite.png]",
                            time="2024-03-01T09:00:01Z",
                            id="m1",
                        ),
                        Turn("Done.", role="assistant", id="m2"),
                    ],
                    "2024-03-01T09:00:00.123456Z",
                    metadata={"name": "Kites"},
                ),
            ),
        )
    ]
