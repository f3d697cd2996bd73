"""Studies: folding methods side by side (`compare`), and a plan made again from the reports of a build (`calibrate`)."""
