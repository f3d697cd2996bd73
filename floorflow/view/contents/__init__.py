"""What pictures show, read from plan.json: a scene for each FPGA, and the chain of slots of all."""
