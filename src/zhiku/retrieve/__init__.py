"""The read flow: from a query to hits with their places."""
