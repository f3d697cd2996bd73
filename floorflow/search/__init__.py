"""The search for the best plan: candidates from folding to placement, in a loop."""
