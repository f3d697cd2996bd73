"""Lower a Network to FINN's engines."""

from floorflow.backends.finn.lower.lowering import lower
