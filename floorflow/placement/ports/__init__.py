"""Where on its edge a module's streams end, and by which Laguna columns they cross."""
