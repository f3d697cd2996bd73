"""Chunks of a network that partial reconfiguration swaps: problem, resource models, methods, timeline."""
