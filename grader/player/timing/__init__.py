"""The player's side of the clocks: fresh inputs, copies of results, and work that keeps a GPU busy."""
