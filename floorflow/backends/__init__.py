"""Backends: how engines of one generator are lowered, folded and priced."""
