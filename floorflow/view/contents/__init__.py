"""What pictures show, read from plan.json."""
