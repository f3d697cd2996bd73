"""``python -m floorflow``."""

from floorflow.cli import main

main()
