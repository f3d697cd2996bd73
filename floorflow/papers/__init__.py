"""Published systems: their models, methods, cases and tables; found by name, imported by nothing else."""
