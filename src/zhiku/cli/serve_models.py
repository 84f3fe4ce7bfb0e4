"""The command serve-models: the built-in model for other programs."""

from __future__ import annotations

import signal
from contextlib import suppress

import click

from zhiku.cli import render
from zhiku.cli.command import Command, session_of
from zhiku.cli.session import Session
from zhiku.cli.values import Whole

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8456

_EXAMPLES = """\
zhiku serve-models
zhiku serve-models --port 0"""


@click.command(
    cls=Command,
    epilog=_EXAMPLES,
    help="Let other programs on this computer use the built-in model until Ctrl-C: /v1/embeddings and /v1/models as"
    " OpenAI has them, /v1/rerank as Jina and Cohere have it. Prints the address. Texts are embedded as they are given;"
    " what the model wants before them (query: , passage: ) is the client's. No other computer can reach it.",
)
@click.option("--port", type=Whole(0), default=DEFAULT_PORT, help="The port, 8456 unless named; 0 for any free one.")
@click.option("--host", metavar="ADDRESS", default=DEFAULT_HOST, help="Another address of this computer, such as ::1.")
@click.pass_context
def serve_models(ctx: click.Context, port: int, host: str) -> int:
    session = session_of(ctx)
    session.set_up_log()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):  # how a server ends
        _serve(session, host, port)
    render.note(session.errors.tr("Stopped serving."))
    return 0


def _serve(session: Session, host: str, port: int) -> None:
    from zhiku.web.server import listen, serve, url_of

    with listen(host, port) as server:
        from zhiku.service.local_model import open_local_model

        model = open_local_model(session.home)
        from zhiku.web.models_app import models_app  # takes longest, and whoever has no model need not wait

        app = models_app(model)
        render.out(f"{url_of(server)}/v1")
        render.flush()
        name = model.embedder.model
        render.note(session.errors.tr("Serving {model}; Ctrl-C ends it.", model=name))
        if model.is_fallback:
            render.note(session.errors.tr("It stands in for multilingual-e5-small, which is not installed here."))
        serve(app, server)
