"""Wrong kernels of lessons 09 to 13: each is a lesson's solution with one place changed."""
