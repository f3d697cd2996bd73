"""Runs of other tools by the hundred: a generated Snakefile, and what each of its jobs does."""
