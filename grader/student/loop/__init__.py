"""The student's loop: their own files, progress, hints, predictions, and a watch that grades on save."""
