"""Servers on this computer: FastAPI and uvicorn are imported here, and only by the command that serves."""
