"""`memforest query` and `memforest ask`: evidence, and an answer from it."""

from typing import Annotated, Unpack

import typer

from memforest_ray.cli.call import Call
from memforest_ray.cli.evidence import draw_answer, draw_result
from memforest_ray.cli.failures import OK
from memforest_ray.cli.questions import Explained, Question, library_options
from memforest_ray.cli.screen import clean

__all__ = ["ask", "query"]

_User = Annotated[str, typer.Argument(metavar="USER", help="Whose memory.")]
_Text = Annotated[str, typer.Argument(metavar="TEXT", help="The question.")]


def query(call: Call, user: _User, text: _Text, **options: Unpack[Explained]) -> int:
    """Find evidence for a question, best first."""
    with call.client() as client:
        result = client.user(user).query(text, **library_options(options))
    data = {"user": user, "question": text, **result.to_json()}
    call.answer(data, lambda screen: draw_result(screen, user, result, explain=options["explain"]))
    if result.reason == "no_memory":
        call.say(call.no_memory(user))
    return OK


def ask(call: Call, user: _User, text: _Text, **options: Unpack[Question]) -> int:
    """Answer a question from memory alone, citing the evidence. The answer is shown as it is written."""
    told: list[str] = []

    def show(piece: str) -> None:
        told.append(piece)
        call.stdout.write(clean(piece))
        call.stdout.flush()

    asked = library_options(options)
    with call.client() as client:
        answer = client.user(user).ask(text, on_text=None if call.json else show, **asked)
    if told:
        call.stdout.write("\n")
    whole = "".join(told).strip() == answer.text.strip()
    data = {"user": user, "question": text, **answer.to_json()}
    call.answer(data, lambda screen: draw_answer(screen, user, answer, told=whole))
    if answer.result is not None and answer.result.reason == "no_memory":
        call.say(call.no_memory(user))
    return OK
