"""What a frame rate costs: fronts of interval against each resource."""
