"""The write flow: from files to an index."""
