"""``course doctor``: what this machine has, what it lacks, and how to get it. Standard library only.

It must run before anything is installed: with the system's Python, without torch, typer or rich.
"""
