"""Other judges on this corpus: cheats that each finds, honest files that it rejects, and its time."""
