"""The best candidate at an interval, and the shortest interval that has one."""
