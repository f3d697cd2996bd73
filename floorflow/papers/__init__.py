"""Published systems, a folder a paper: their models, methods, cases and tables; found by name, imported by nobody.

``<paper>/<stage>/<method>.py`` holds a method of a stage, ``folding`` for one: its ``solve`` (`stats.methods_in`).
"""
