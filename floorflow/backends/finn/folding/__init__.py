"""The legal foldings of FINN's engines and their prices; engines that are folded together; FINN's own heuristic."""
