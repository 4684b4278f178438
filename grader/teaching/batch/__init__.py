"""Many submissions at once: who handed in what, graded by Dask, kept in a journal that nothing can lose."""
