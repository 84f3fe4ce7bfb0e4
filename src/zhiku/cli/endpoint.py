"""What a run asks and tells before it embeds through an endpoint."""

from __future__ import annotations

import sys
from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

from zhiku.cli import render
from zhiku.errors import UsageError

if TYPE_CHECKING:
    from zhiku.cli.session import Session
    from zhiku.service.embedding import Sending
    from zhiku.service.endpoints import EmbedOptions


def taken(options: MutableMapping[str, Any]) -> tuple[bool, EmbedOptions]:
    """Take the options about an endpoint out of a command's, and return whether the answer is yes, and the others."""
    from zhiku.service.endpoints import EmbedOptions  # help needs none

    names = ("base_url", "model", "api_key")
    return options.pop("yes"), EmbedOptions(**{name: options.pop(f"embed_{name}") for name in names})


def agreed(session: Session, base: str, sending: Sending | None, *, yes: bool) -> bool:
    """Return whether text of a base may be sent to where it was not sent before; ask where it would be.

    Raises `UsageError` where nobody can be asked, or the answer is no.
    """
    screen = session.errors
    if sending is not None and sending.key_is_passing:
        render.note(
            screen.tr(
                "The key is known to this run alone: unless one stands in config.toml or ZHIKU_EMBED_API_KEY, base"
                " {name} can be searched by words only later, by agents too.",
                name=base,
            )
        )
    if sending is None or not sending.is_new:
        return False
    address = sending.address
    render.note(screen.tr("The text of base {name} is going to be sent to {address}.", name=base, address=address))
    if yes:
        return True
    if not (sys.stdin.isatty() and screen.is_terminal):
        raise UsageError(
            "sending text to {address} needs a yes.",
            address=address,
            hint="say it: --yes; or read words only: zhiku index --no-embed",
        )
    if render.ask(screen.tr("Send it? [y/N]")).casefold() not in render.YES:
        raise UsageError("nothing was sent, and nothing was done.", hint="read words only: zhiku index --no-embed")
    return True
