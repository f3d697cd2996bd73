"""hls4ml's part of the judge."""
