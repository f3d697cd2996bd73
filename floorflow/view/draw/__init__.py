"""Parts of pictures, drawn on a sheet."""
