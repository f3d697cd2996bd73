"""Studies: folding methods side by side (`compare`), with FINN's own among them (`finn_method`)."""
