"""What FINN's hardware costs, as formulas: constants, fitted values, memories, bands of error."""
