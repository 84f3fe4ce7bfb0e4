"""Knowledge bases as tools for AI agents, over the Model Context Protocol."""
