"""Parsers that do what foreign bytes may make a native library do; a worker imports them by name."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from zhiku.errors import NeedsOcr
from zhiku.model import Block, ParsedDocument, Source


def said(text: str, **more: Any) -> ParsedDocument:
    """Return a document of one paragraph."""
    blocks = (Block(kind="paragraph", char_start=0, char_end=len(text)),) if text else ()
    return ParsedDocument(**{"text": text, "blocks": blocks, **more})


class Parser:
    """Implements `zhiku.ports.Parser`: what the file says is what happens."""

    def parse(self, source: Source, data: bytes) -> ParsedDocument:
        name, _, argument = data.decode().partition(" ")
        done: ParsedDocument = getattr(self, name)(source, argument)
        return done

    def say(self, source: Source, text: str) -> ParsedDocument:
        return said(text)

    def pid(self, source: Source, text: str) -> ParsedDocument:
        return said(str(os.getpid()))

    def abort(self, source: Source, text: str) -> ParsedDocument:
        os.abort()

    def leave(self, source: Source, text: str) -> ParsedDocument:
        sys.exit(0)

    def crash_unless_fresh(self, source: Source, text: str) -> ParsedDocument:
        if hasattr(sys, "harmed"):
            os.abort()
        return said("fresh")

    def harm(self, source: Source, text: str) -> ParsedDocument:
        sys.harmed = True
        return said("harmed")

    def sleep(self, source: Source, text: str) -> ParsedDocument:
        Path(source.root, "asleep").write_text(str(os.getpid()))
        time.sleep(1000)
        raise AssertionError("nobody ended it")

    def spin(self, source: Source, text: str) -> ParsedDocument:
        while True:
            pass

    def allocate(self, source: Source, text: str) -> ParsedDocument:
        hoard = [bytes(2**30) for _ in range(8)]
        return said(f"{len(hoard)} GiB")

    def fill_and_abort(self, source: Source, text: str) -> ParsedDocument:
        hoard = b"\1" * (int(text) * 2**20)
        os.kill(os.getpid(), 6 if hoard else 0)
        raise AssertionError("not reached")

    def hoard_and_abort(self, source: Source, text: str) -> ParsedDocument:
        hoard = []
        try:
            while True:
                hoard.append(b"\1" * 2**20)
        except MemoryError:
            os.abort()

    def print(self, source: Source, text: str) -> ParsedDocument:
        sys.stdout.write("rubbish")
        sys.stdout.flush()
        os.write(1, b"rubbish" * 1_000)
        os.write(2, b"rubbish" * 1_000)
        return said(f"{os.read(0, 10)!r}")

    def forge(self, source: Source, text: str) -> ParsedDocument:
        for number in range(3, 20):
            with suppress(OSError):
                os.write(number, b"\xff" * 1_000)
        return said("forged")

    def overlap(self, source: Source, text: str) -> ParsedDocument:
        return said("text", blocks=(Block(kind="paragraph", char_start=3, char_end=9),))

    def long(self, source: Source, count: str) -> ParsedDocument:
        return said("字" * int(count))

    def refuse(self, source: Source, text: str) -> ParsedDocument:
        raise NeedsOcr("{path} has {{no}} text", path=source.path, hint="look at {path}")

    def fail(self, source: Source, text: str) -> ParsedDocument:
        return said(str({}["missing"]))

    def recurse(self, source: Source, text: str) -> ParsedDocument:
        return self.recurse(source, text)

    def import_decoy(self, source: Source, text: str) -> ParsedDocument:
        import decoy

        return said(str(decoy))
