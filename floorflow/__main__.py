"""``python -m floorflow``."""

from floorflow.cli.main import main

main()
