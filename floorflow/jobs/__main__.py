"""``python -m floorflow.jobs modules|card NAME``: one job of the Snakefile in this folder."""

import sys

from floorflow.jobs.work import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
