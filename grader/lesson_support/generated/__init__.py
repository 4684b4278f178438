"""What ``torch.compile`` generates for a GPU: have it written (``write``), and read it (``read``)."""
