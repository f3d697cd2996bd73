"""fpgaConvNet's part of the judge."""
