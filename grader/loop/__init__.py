"""The student's loop: a desk with their own files, progress, hints, predictions, and a watch that grades on save."""
