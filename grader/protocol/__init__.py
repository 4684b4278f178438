"""What referee and player both speak, and what a process gives up before it runs foreign code."""
