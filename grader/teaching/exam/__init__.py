"""Exams: variants of lessons, drawn by a student's name, each with its starter, its task and its key."""
