"""Studies over the stages: folding methods side by side (`compare`), and a plan made again from reports (`calibrate`)."""
