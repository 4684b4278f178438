"""What a kernel author runs: profiles, rooflines, tables of speeds, comparisons."""
