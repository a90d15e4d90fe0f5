"""`memforest load`: many files of many users become memory, as a job that may be stopped and run again."""

from typing import Annotated

import typer

from memforest_ray.cli.call import Call, FormatOption, TimeOption

__all__ = ["load"]

CONCURRENCY = 16
"""Users at a time: about as many forests as start in ten seconds on a small node."""


def load(
    call: Call,
    paths: Annotated[list[str], typer.Argument(metavar="PATH", help="Files, folders, or s3://, gs:// or az:// URLs.")],
    *,
    prefix: Annotated[str, typer.Option(metavar="P", help="Put before every user id, such as `tenant/`.")] = "",
    format: FormatOption = "auto",  # noqa: A002 - the option's name
    time: TimeOption = None,
    concurrency: Annotated[
        int, typer.Option(metavar="N", min=1, max=1024, help="Users loaded at a time.")
    ] = CONCURRENCY,
    name: Annotated[
        str | None, typer.Option(metavar="NAME", help="A name for this load; a run of the same name resumes it.")
    ] = None,
) -> int:
    """Load the files of many users, resuming if it was stopped.

    A file of one conversation becomes the user <path without suffix>, one of several <path>/<conversation id> each.
    Prints one JSON line per user and `RESULT {json}` last. The exit code is 3 if some failed.
    """
    from memforest_ray.cli.loading import Plan, run_load
    from memforest_ray.cli.sources import settled
    from memforest_ray.facts.readers.defaults import Defaults

    Defaults(time=time)  # what is no time is refused once, and not for each file
    named = name or "\n".join([prefix, format, *map(settled, paths)])
    plan = Plan(tuple(paths), prefix, format, concurrency, named, time)
    return run_load(call, plan)
