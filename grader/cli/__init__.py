"""The command line: every verb, one file for each kind of user. Nobody imports it."""
