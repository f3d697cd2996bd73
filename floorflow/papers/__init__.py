"""Published models and methods, a folder a paper: found by name (`floorflow.stats.methods_in`), imported by nobody.

``<paper>/<stage>/<method>.py`` holds a method of a stage, ``folding`` for one: its ``solve``.
"""
