"""``python -m floorflow``, and the command ``floorflow``: Ctrl-C is heard while modules are imported, too."""

from __future__ import annotations

import gc
import signal
import sys

_OBJECTS_A_COLLECTION = 50_000
"""With Python's own 700 or 2,000 looking for what refers to itself in circles, of which there is hardly any, takes up
to 4% of a run; memory grows by 1%."""


def main() -> None:
    """Run the command line."""
    gc.set_threshold(_OBJECTS_A_COLLECTION)
    try:
        from floorflow.cli.main import main as run

        run()
    except KeyboardInterrupt:
        # Another Ctrl-C, or the end of the interpreter, must not change the exit code.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.stderr.write("interrupted: nothing was written\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
