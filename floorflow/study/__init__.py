"""Studies: folding methods side by side (`compare`), and a plan made again from what a build measured (`calibrate`)."""
