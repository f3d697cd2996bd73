"""What no layout's wires can be shorter than."""
