"""The `zhiku` command."""
