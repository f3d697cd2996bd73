"""How text for people is laid out: lists in sentences."""
