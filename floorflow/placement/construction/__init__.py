"""Ways to a first layout."""
