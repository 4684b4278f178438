"""A lesson as a package for a platform that grades by itself: Gradescope, Classroom 50, nbgrader."""
