"""Pairs of files of the course's own: a reference, a right submission, a wrong one, a low-precision one."""
