"""The files of a plan's folder, read and held against the plan."""
