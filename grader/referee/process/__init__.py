"""A player as the referee sees it: how it is started, spoken to, limited and ended."""
