"""What the user asks for: `Request`, what can be chosen, and how the command line spells it."""

from floorflow.request.choices import (
    DEFAULT_CAP,
    DEFAULT_FILL,
    HARD_FILL,
    LARGE_LUT,
    LARGE_LUT_FILL,
    LEAST_ENGINE_LIMITS,
    MOST_EPSILON,
    MOST_OF_FPGA,
    MOST_OF_SLOT,
    RESOURCES_ALONE,
    Bargains,
    ConstraintStyle,
    Effort,
    Granularity,
    Objective,
    Reuse,
    TieBreak,
)
from floorflow.request.model import (
    Request,
    default_methods,
    known_methods,
    limits_of,
    option_of,
    pblock_limit,
    preset_value,
    require_method,
    require_resources,
    told,
)
from floorflow.request.readers import at_width, products_from
from floorflow.request.spelling import ENGINES, GOAL, NETWORK, Spelling
