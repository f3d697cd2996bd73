"""Devices, boards and platforms: what the hardware offers, read from ``platforms/``."""
