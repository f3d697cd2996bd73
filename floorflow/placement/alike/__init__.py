"""Equal modules in windows alike."""
