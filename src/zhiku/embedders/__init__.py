"""Models that turn texts into vectors; numpy and model libraries are imported when one is loaded."""
