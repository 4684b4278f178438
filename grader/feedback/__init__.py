"""Text in, text out: a look at a file before it runs, and causes in plain words after it failed."""
