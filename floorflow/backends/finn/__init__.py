"""The FINN backend: lowering to FINN's engines, their legal foldings, and what those cost."""
