"""fpgaConvNet: one engine a layer, folded by coarse-in, coarse-out and fine."""
