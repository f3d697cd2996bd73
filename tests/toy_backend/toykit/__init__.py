"""A back end outside of floorflow: image filters of three kinds of engines, written from docs/backends.md alone."""
