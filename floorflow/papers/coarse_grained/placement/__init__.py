"""The paper's placement method."""
