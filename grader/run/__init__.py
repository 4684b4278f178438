"""``course run`` and ``course lab``: the student's own scripts and notebooks with the CPU back end active."""
