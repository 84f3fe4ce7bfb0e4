"""Where a base is kept."""
