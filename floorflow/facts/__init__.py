"""The Plan: everything a run decided, as plan.json holds it (docs/plan.md says what each field means), and its report.

Pydantic models, because plan.json is a border: other programs and people write and read it. One file a fact: its
values, its lines of the summary and the report. ``python -m floorflow.facts`` prints the JSON Schema that
``docs/plan.schema.json`` holds.
"""

from floorflow.facts.channel import ChannelEntry
from floorflow.facts.extras import Extras, read_extras
from floorflow.facts.folding import FoldedEntry
from floorflow.facts.memory_schedule import MemoryScheduleEntry, TransferEntry
from floorflow.facts.network import EngineEntry, NetworkEntry
from floorflow.facts.phase import PhaseEntry
from floorflow.facts.plan import Plan, json_schema, read_plan
from floorflow.facts.report import SECTIONS, figures, report
from floorflow.facts.values import InputFile
