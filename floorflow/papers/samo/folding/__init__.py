"""Folding methods of the paper."""
