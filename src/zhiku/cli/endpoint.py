"""What a run asks and tells before it embeds through an endpoint."""

from __future__ import annotations

import sys
from collections.abc import Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from zhiku.cli import render
from zhiku.errors import UsageError

if TYPE_CHECKING:
    from zhiku.cli.screen import Screen
    from zhiku.cli.session import Session
    from zhiku.service.embedding import Sending
    from zhiku.service.endpoints import EmbedOptions


def taken(options: MutableMapping[str, Any], *, for_new: bool = False) -> tuple[bool, EmbedOptions]:
    """Take the options about an endpoint out of a command's, and return whether the answer is yes, and the others.

    `for_new` says that they are for bases without vectors alone.
    """
    from zhiku.service.endpoints import EmbedOptions  # help needs none

    told = {name: options.pop(f"embed_{name}") for name in ("base_url", "model", "api_key")}
    return options.pop("yes"), EmbedOptions(**told, for_new=for_new)


def agreed(session: Session, base: str, sending: Sending | None, *, yes: bool) -> bool:
    """Return whether text of a base may be sent to where it was not sent before; ask where it would be.

    Raises `UsageError` where nobody can be asked, or the answer is no.
    """
    screen = session.errors
    if sending is None:
        return False
    _tell_of_passing_key(screen, base, sending)
    if not sending.is_new:
        return False
    _tell_where(screen, base, sending.address)
    if yes:
        return True
    if not _can_ask(screen):
        raise UsageError(
            "sending text to {address} needs a yes.",
            address=sending.address,
            hint="say it: --yes; or read words only: zhiku index --no-embed",
        )
    if not _ask(screen):
        raise UsageError("nothing was sent, and nothing was done.", hint="read words only: zhiku index --no-embed")
    return True


def agreed_for(session: Session, sendings: Mapping[str, Sending], *, yes: bool) -> list[str]:
    """Return of which bases text may be sent to where it was not sent before; ask once for all, where anybody can be.

    A base of which it may not is read for its words, and told with what agrees to it.
    """
    screen = session.errors
    for base, sending in sendings.items():
        _tell_of_passing_key(screen, base, sending)
    new = {base: sending for base, sending in sendings.items() if sending.is_new}
    if not new or not (yes or _can_ask(screen)):
        return []
    for base, sending in new.items():
        _tell_where(screen, base, sending.address)
    return list(new) if yes or _ask(screen) else []


def _tell_of_passing_key(screen: Screen, base: str, sending: Sending) -> None:
    if sending.key_is_passing:
        render.note(
            screen.tr(
                "The key is known to this run alone: unless one stands in config.toml or ZHIKU_EMBED_API_KEY, base"
                " {name} can be searched by words only later, by agents too.",
                name=base,
            )
        )


def _tell_where(screen: Screen, base: str, address: str) -> None:
    render.note(screen.tr("The text of base {name} is going to be sent to {address}.", name=base, address=address))


def _can_ask(screen: Screen) -> bool:
    return sys.stdin.isatty() and screen.is_terminal


def _ask(screen: Screen) -> bool:
    return render.ask(screen.tr("Send it? [y/N]")).casefold() in render.YES
