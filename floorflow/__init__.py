"""floorflow: from a quantised network to a legal multi-die FPGA floorplan."""

__version__ = "0.1.0"
