"""``python -m floorflow``, and the command ``floorflow``: Ctrl-C is heard while modules are imported, too."""

from __future__ import annotations

import signal
import sys


def main() -> None:
    """Run the command line."""
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
