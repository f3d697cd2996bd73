"""The judge's part for f-CNN^x' engines."""
