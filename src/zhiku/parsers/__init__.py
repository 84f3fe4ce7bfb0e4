"""Readers of file formats; each turns bytes into a `ParsedDocument`."""
