"""One partition model for any graph of slots: chains, grids, rings, stars, meshes and trees as cuts with weights."""
