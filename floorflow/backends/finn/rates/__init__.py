"""When FINN's engines read and write, as a rate problem."""
