"""The FINN backend: reading or lowering to FINN's engines, their legal foldings, and what those cost."""

from floorflow.backends.finn.config.folding_file import with_given_folding
from floorflow.backends.finn.folding.cost_table import CostTable
from floorflow.backends.finn.folding.folding_range import folding_ranges
from floorflow.backends.finn.folding.given_folding import given_folding_groups
from floorflow.backends.finn.folding.legal_foldings import options
from floorflow.backends.finn.kinds.converter import converter_kind, converter_resources
from floorflow.backends.finn.kinds.fifo import fifo_resources
from floorflow.backends.finn.kinds.kind import CostModel
from floorflow.backends.finn.kinds.registry import FinnEstimate, estimate
from floorflow.backends.finn.read.source import Source, read_source

__all__ = [
    "CostModel",
    "CostTable",
    "FinnEstimate",
    "Source",
    "converter_kind",
    "converter_resources",
    "estimate",
    "fifo_resources",
    "folding_ranges",
    "given_folding_groups",
    "options",
    "read_source",
    "with_given_folding",
]
