"""Write down what a run decided as the Plan."""
