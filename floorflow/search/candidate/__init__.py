"""From a folding to a placed candidate, and what a search knows before it begins."""
