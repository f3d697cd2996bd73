"""A build held against what floorflow would have said of it."""
