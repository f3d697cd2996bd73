"""FINN's configuration files that a user may give: folding and styles of layers."""
