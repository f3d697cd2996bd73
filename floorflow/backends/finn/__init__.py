"""The FINN backend: reading or lowering to FINN's engines, their legal foldings, and what those cost."""

from floorflow.backends.finn.converter import converter_kind, converter_resources
from floorflow.backends.finn.cost_table import CostTable
from floorflow.backends.finn.fifo import fifo_resources
from floorflow.backends.finn.folding_file import with_folding
from floorflow.backends.finn.kept import kept_groups
from floorflow.backends.finn.kinds.kind import CostModel
from floorflow.backends.finn.lower import lower
from floorflow.backends.finn.options import options
from floorflow.backends.finn.registry import FinnEstimate, estimate
from floorflow.backends.finn.source import Source, read_source

__all__ = [
    "CostModel",
    "CostTable",
    "FinnEstimate",
    "Source",
    "converter_kind",
    "converter_resources",
    "estimate",
    "fifo_resources",
    "kept_groups",
    "lower",
    "options",
    "read_source",
    "with_folding",
]
