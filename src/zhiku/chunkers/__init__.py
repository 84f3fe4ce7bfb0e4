"""Ways to cut a document into chunks."""
