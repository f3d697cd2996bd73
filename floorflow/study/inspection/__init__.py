"""A model as a back end makes it: what was read, its engines, and between what their foldings may be chosen."""
