"""``course lab``: Jupyter on the lessons' notebooks, with a kernel that has a cuda device on this CPU."""
