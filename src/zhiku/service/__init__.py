"""Use cases over bases, wired from config."""
