"""What the real hls4ml makes of floorflow's configuration."""
