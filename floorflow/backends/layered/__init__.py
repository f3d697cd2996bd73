"""What back ends share that build an engine for each layer of a network and name no cells: hls4ml and fpgaConvNet."""
