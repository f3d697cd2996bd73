"""The paper's partition method."""
