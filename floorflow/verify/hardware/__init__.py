"""Dies, boards and links from their raw YAML, counted again."""
