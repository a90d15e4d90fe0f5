"""`memforest load`: many files of many users become memory, as a job that may be stopped and run again."""

from typing import Annotated

import typer

from memforest_ray.cli.call import Call

__all__ = ["load"]

CONCURRENCY = 16
"""Users at a time: about as many forests as start in ten seconds on a small node."""


def load(
    call: Call,
    paths: Annotated[
        list[str], typer.Argument(metavar="PATH...", help="Files, folders, s3://, gs:// or az:// places.")
    ],
    *,
    prefix: Annotated[str, typer.Option(metavar="P", help="Stands before every user id, as in `tenant/`.")] = "",
    format: Annotated[  # noqa: A002 - the option's name
        str, typer.Option(metavar="NAME", help="The files' format; found by itself unless named.")
    ] = "auto",
    concurrency: Annotated[int, typer.Option(metavar="N", min=1, max=1024, help="Users at a time.")] = CONCURRENCY,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of this load: a run of the same name goes on where one stopped.")
    ] = None,
) -> int:
    """Make many users' files memory; a stopped run goes on when it is run again.

    A file of one conversation becomes the user <path without suffix>, one of several <path>/<conversation id> each.
    One JSON line a user, `RESULT {json}` last; exit code 3 when some failed.
    """
    from memforest_ray.cli.loading import Plan, run_load  # noqa: PLC0415 - for speed: it loads the client

    plan = Plan(tuple(paths), prefix, format, concurrency, name or "\n".join([prefix, format, *paths]))
    return run_load(call, plan)
