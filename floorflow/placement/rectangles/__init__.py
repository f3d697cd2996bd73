"""The rectangles that a module may have."""
