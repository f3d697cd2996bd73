"""The FINN back end: reading or lowering to FINN's engines, their legal foldings, and what those cost."""
