"""Where all modules lie, what that costs, and what is free beside them."""
