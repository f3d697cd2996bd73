"""What is relaxed, and in which order, where a search under all limits finds no plan or a poor one."""
