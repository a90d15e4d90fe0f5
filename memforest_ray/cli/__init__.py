"""The command line: the client's verbs, for a person and (`--json`) for a script."""

import sys

__all__ = ["main"]


def main() -> None:
    """Entry point of `memforest`."""
    from memforest_ray.cli.app import run  # noqa: PLC0415 - typer is not needed to import the package

    sys.exit(run(sys.argv[1:]))
