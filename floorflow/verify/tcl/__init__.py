"""One reader of Tcl, of our own files and of anybody's: words, values, and an interpreter of what floorplans use."""
