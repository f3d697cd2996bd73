"""Hardware engines, the streams between them, and their grouping into modules. Imports no stage."""
