"""The command line run in this process or as one of its own, and what a refusal looks like."""

import re
import subprocess
import sys
from dataclasses import dataclass

from click.testing import CliRunner

from support.paths import ROOT
from warpbound.cli import main

SAXPY = str(ROOT / "examples" / "saxpy.cu")
ANSWERED, FAILED, COMMAND = 0, 1, 2
LAUNCH = ("--grid", "1", "--block", "32")


@dataclass(frozen=True)
class Said:
    """What a run of the command line left behind."""

    code: int
    out: str
    err: str


def ask(*words: str, stdin: bytes = b"") -> Said:
    done = CliRunner().invoke(main, list(words), input=stdin)
    return Said(done.exit_code, done.stdout, without_progress(done.stderr))


def without_progress(err: str) -> str:
    """What is said but for the lines that name what is being worked on, as they do where that lasts."""
    return "".join(line for line in err.splitlines(keepends=True) if not re.search(r" \.\.\.(?: \d+ s)?$", line))


def as_process(*words: str, stdin: bytes = b"") -> Said:
    command = [sys.executable, "-c", "from warpbound.cli import main; main()", *words]
    done = subprocess.run(command, input=stdin, capture_output=True, check=False)
    return Said(done.returncode, done.stdout.decode(), done.stderr.decode())


def assert_refused(said: Said, code: int, *fragments: str) -> None:
    assert said.code == code, said
    assert said.out == ""
    assert said.err.startswith("warpbound: ")
    assert said.err.rstrip()[-1] in ".?", said.err
    assert "Traceback" not in said.err
    assert "internal error" not in said.err
    for fragment in fragments:
        assert fragment in said.err, said.err
