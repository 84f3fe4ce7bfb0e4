"""What `zhiku status` says of a base."""

from __future__ import annotations

from dataclasses import replace

from screens import pipe
from test_reports import STATUS

from zhiku.cli.bases import status_lines


def test_the_extra_for_source_code_is_named_only_where_it_would_do_something() -> None:
    told = "in lines; the extra zhiku[code] cuts it at functions and classes"
    assert told not in "\n".join(status_lines(STATUS, pipe()))
    assert told in "\n".join(status_lines(replace(STATUS, lacks_code_extra=True), pipe()))
