"""Tools for those who change the course: generated files and checks of lessons."""
