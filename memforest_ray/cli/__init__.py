"""The command line: the client's verbs, for a person and (`--json`) for a script.

A command is a process of its own, so it pays for every import. What a verb needs is therefore imported in its functions
when it runs, and named under TYPE_CHECKING for types: `--help` loads neither the client nor numpy, rich or Ray.
"""

import signal
import sys
import warnings

from memforest_ray.cli.failures import INTERRUPTED, stopped

__all__ = ["main"]


def main() -> None:
    """Entry point of `memforest`. While it loads, and while it leaves, an interrupt is no traceback either."""
    if not sys.warnoptions:
        # For who develops Python: what an interrupt leaves half made is reported when it is collected.
        warnings.simplefilter("ignore")
        sys.unraisablehook = _unreported
    try:
        from memforest_ray.cli.app import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        sys.stderr.write(f"memforest: {stopped()}\n")
        code = INTERRUPTED
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # All is said and durable; one more interrupt ends the process at once, and not with a traceback of its threads.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(code)


def _unreported(_: "sys.UnraisableHookArgs") -> None:
    """Nobody can act on it: the object is gone."""
