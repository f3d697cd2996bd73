"""What a plan emits whose modules are implemented one by one and stitched."""

from floorflow.emit.stitch.scripts import stitch_files

__all__ = ["stitch_files"]
