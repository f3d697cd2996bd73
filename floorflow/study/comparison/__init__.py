"""Folding methods side by side."""
