"""``--on ssh:HOST``: a machine that the user can reach by ssh does the work, and this one shows it."""
