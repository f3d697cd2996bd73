"""report.html: a plan as one page that needs no other file."""
