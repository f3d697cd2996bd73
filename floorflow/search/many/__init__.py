"""Several networks, phases in time, regions, and engines at one memory: each a search over searches."""
