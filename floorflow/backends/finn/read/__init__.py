"""Read model files: FINN's dataflow graphs as they are, all others as networks to be lowered."""
