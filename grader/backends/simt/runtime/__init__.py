"""The untrusted half of the CPU back end: it runs in the process of the submission."""
