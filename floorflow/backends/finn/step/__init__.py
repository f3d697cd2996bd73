"""The steps that make FINN build a plan; `bundled` puts them into the one file that a plan brings along."""
