"""``course run``: the student's own scripts and notebooks with the CPU back end active."""
