"""What a teacher runs: a class at once, resemblances, packages for other platforms."""
