"""What a submission asks to have compiled, and who asks: ``load_inline`` and ``load`` in a player."""
