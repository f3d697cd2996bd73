"""What a plan emits whose modules are implemented one by one and stitched."""

from floorflow.emit.stitch.files import stitch_files

__all__ = ["stitch_files"]
