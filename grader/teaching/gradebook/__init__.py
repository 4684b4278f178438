"""The platforms' own files, filled in: nothing in them is changed but the grades."""
