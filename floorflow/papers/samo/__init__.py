"""SAMO: Montgomerie-Corcoran et al., streaming architecture mapping optimisation (2022)."""
