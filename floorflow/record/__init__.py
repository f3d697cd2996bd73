"""Write down what a run decided as the Plan."""

from floorflow.record.outcome import Outcome
from floorflow.record.run import record

__all__ = ["Outcome", "record"]
