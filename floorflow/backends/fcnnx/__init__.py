"""The engine of f-CNN^x: one pipeline a network, which runs the network's subgraphs one after another."""
