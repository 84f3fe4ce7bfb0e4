"""How long tests wait for what should be quick. It is bounded where waiting is the fault, never to measure speed."""

from __future__ import annotations

PROMPT_S = 6
"""For what takes a second at most on a quiet machine, where the fault would be to wait for far longer."""
