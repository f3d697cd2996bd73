"""Print the JSON Schema of plan.json that ``docs/plan.schema.json`` holds."""

from __future__ import annotations

import sys

from floorflow.facts import json_schema

if __name__ == "__main__":
    sys.stdout.write(json_schema())
