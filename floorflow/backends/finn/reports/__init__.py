"""What FINN reports of a build, and how its instances are named."""
