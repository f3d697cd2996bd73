"""Plan again with what a build measured."""
