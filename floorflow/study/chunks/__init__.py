"""Studies of chunks: a case's rows, and a network over areas of a board."""
