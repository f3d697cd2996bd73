"""The paper's folding method."""
