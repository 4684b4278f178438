"""Writers of a verdict, one a format. They format what they are given and compute nothing."""
