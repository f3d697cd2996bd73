"""Files for other tools, made in memory from the Plan: name to content. Nothing here touches the disk."""

from floorflow.emit.bundle import bundle, extra_files, plan_digest
