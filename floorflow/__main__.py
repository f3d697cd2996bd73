"""``python -m floorflow``, and the command ``floorflow``: signals are heard while modules are imported, too."""

import gc
import sys
from contextlib import suppress

from floorflow.cli.signals import exit_code, hear_signals, ignore_signals

_OBJECTS_A_COLLECTION = 50_000
"""With Python's own 700 or 2,000 looking for what refers to itself in circles, of which there is hardly any, takes up
to 4% of a run; memory grows by 1%."""


def main() -> None:
    """Run the command line."""
    try:
        hear_signals()
        gc.set_threshold(_OBJECTS_A_COLLECTION)
        from floorflow.cli.main import main as run

        run()
    except KeyboardInterrupt:
        # Another signal, or the end of the interpreter, must not change the exit code.
        ignore_signals()
        with suppress(OSError):  # the terminal may be gone
            sys.stderr.write("interrupted: nothing was written\n")
            sys.stderr.flush()
        sys.exit(exit_code())


if __name__ == "__main__":
    main()
