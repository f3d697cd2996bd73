"""Ways from a layout to a better one, and to the best."""
