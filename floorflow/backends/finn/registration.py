"""FINN's back end as `floorflow.plugins` knows it; imports nothing slow."""

from __future__ import annotations

from floorflow.backends.finn.options import FinnOptions
from floorflow.plugins import Registration

FINN = Registration("floorflow.backends.finn.backend:BACKEND", FinnOptions, ("finn", "finn-wide"))
