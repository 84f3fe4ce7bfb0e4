"""Index the sample documents that come with zhiku and search them, as a person would. Exit 1 if a search fails.

Run by `make demo`. Its base lives in build/demo-home and is made anew each time; nothing else is touched.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from importlib.resources import as_file, files
from pathlib import Path

HOME = Path(__file__).resolve().parent.parent / "build" / "demo-home"
ZHIKU = Path(sys.executable).with_name("zhiku")

QUESTIONS = {
    "A question in Chinese:": "防霜风扇什么时候启动",
    "One in English:": "Why must a frozen lithium battery not be charged?",
    "And one whose answer is on a page of a PDF:": "收水最多的一天是哪一天",
}


def run(*arguments: str) -> int:
    """Show a zhiku command, run it, and return its exit code."""
    print(f"\n$ {shlex.join(['zhiku', *arguments])}", flush=True)
    return subprocess.run([ZHIKU, *arguments], env=os.environ | {"ZHIKU_HOME": str(HOME)}, check=False).returncode


def main() -> int:
    """Run the demonstration and return 0, or 1 if one of its steps failed."""
    shutil.rmtree(HOME, ignore_errors=True)
    with as_file(files("zhiku") / "samples") as samples:
        print("The sample documents of zhiku: notes, manuals and a paper of an invented weather station.", flush=True)
        if code := run("index", str(samples)):
            print(f"\nThe sample documents could not be indexed (exit code {code}).", file=sys.stderr)
            return 1
        for introduction, question in QUESTIONS.items():
            print(f"\n{introduction}", end="")
            if code := run("search", question, "-k", "2", "--max-chars-per-hit", "400"):
                print(f"\nThis search should have found something (exit code {code}).", file=sys.stderr)
                return 1
    shown = os.path.relpath(HOME)
    print(f"\nGo on with your own words:  ZHIKU_HOME={shlex.quote(shown)} .venv/bin/zhiku search 春茶")
    print("Or your own documents:      .venv/bin/zhiku index ~/notes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
