"""The rules of plans, one file a fact."""
