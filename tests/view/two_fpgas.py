"""Pictures that two processes draw, to compare their bytes; this module loads little."""

import hashlib

from floorflow.hardware import load_platform
from floorflow.view.files import png_bytes, svg_bytes
from floorflow.view.pictures.chunks import time_chart
from floorflow.view.pictures.floorplan import floorplan
from floorflow.view.pictures.overview import overview
from floorflow.view.pictures.partition import partition_chart
from floorflow.view.pictures.search import search_chart
from tests.view.fake_plan import fake_plan


def two_fpgas() -> str:
    """Return the digest of pictures of two FPGAs, as SVG to save time, and one as PNG."""
    platform = load_platform("alveo-u250", fpgas=2)
    plan = fake_plan(platform, 9)
    figures = (search_chart(plan), floorplan(plan, platform, "fpga1"), overview(plan, platform), partition_chart(plan))
    content = {"network": "tfc", "platform": "pynq-z1", "batch": 1, "points": [], "paper": None}
    files = [svg_bytes(figure) for figure in (*figures, time_chart(content))]
    return hashlib.sha256(b"".join([*files, png_bytes(files[0]), png_bytes(files[-1])])).hexdigest()
