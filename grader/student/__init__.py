"""What a student runs: the watch, progress, predictions, the lab, the doctor."""
