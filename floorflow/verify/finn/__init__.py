"""FINN's engines and files, judged by rules of their own."""
