"""The modes of planning: each searches, and says how what it found is recorded."""
