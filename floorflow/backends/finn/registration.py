"""FINN's back end as `floorflow.plugins` knows it; imports nothing slow."""

from __future__ import annotations

from floorflow.backends.finn.options import FinnOptions
from floorflow.plugins import Registration
from floorflow.stats import method_names

FINN = Registration("floorflow.backends.finn.backend:BACKEND", FinnOptions, method_names("search/fold_methods"))
