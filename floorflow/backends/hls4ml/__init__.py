"""hls4ml: one engine a layer, folded by one number, its reuse factor."""
