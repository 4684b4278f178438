"""Times predicted where there is no GPU: from what simt counted of a launch, and from a card. Never measured.

The way of the data: counts of a launch -> work (what must be moved and done) -> terms (seconds of each part
of the machine) -> one time, or a reason why none is given.
"""
