"""One module a picture."""
