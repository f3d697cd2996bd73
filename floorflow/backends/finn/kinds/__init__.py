"""One module for each family of FINN kinds."""
