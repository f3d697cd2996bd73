"""FINN's engines and files, checked by rules of their own."""
