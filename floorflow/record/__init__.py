"""Write down what a run decided as the Plan."""

from floorflow.record.run import PlanWithFiles, record
