"""The sheet that pictures are drawn on: boxes, texts, colours, silicon."""
