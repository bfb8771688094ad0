"""The command line: the one place that prints and exits."""

import atexit
import errno
import gc
import io
import os
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import click

from warpbound.errors import CommandError, WarpboundError

CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)
OBJECTS_BEFORE_COLLECTION = 200_000  # Python's own 700 looks for garbage hundreds of times while modules are loaded


@atexit.register
def leave_garbage() -> None:
    """Else Python looks through all objects for it before it ends: 0.1 s. Triton's bindings report what is left."""
    if "triton" not in sys.modules:
        gc.freeze()


EXAMPLES = """
\b
Examples:
  warpbound analyze examples/saxpy.cu --launch examples/saxpy.toml
  warpbound analyze examples/matmul_tiled.cu --launch examples/matmul_tiled.toml
  warpbound analyze old.cu new.cu --gpu a100-sxm-80gb --block 128 --grid 4096
  warpbound analyze kernel.cubin --gpu rtx-4090 --format json
  warpbound analyze kernel.cu --launch kernel.toml --format html -o report.html
  warpbound occupancy --gpu h200 --block 256 --registers 40 --smem 8192
"""
COMMANDS = {  # command -> its module here and its name there; loaded when it is asked for
    "analyze": "analysis.analyze",
    "calibrate": "profiles.calibrate",
    "campprof": "campprof.campprof",
    "coalescing": "coalescing.coalescing",
    "compare": "profiles.compare",
    "count": "ptx_counting.count",
    "curve": "analysis.curve",
    "diff": "review.diff",
    "doctor": "catalogue.doctor",
    "gpus": "catalogue.gpus",
    "launches": "host_launches.launches",
    "lsp": "editor.lsp",
    "mcp": "agents.mcp",
    "measure": "measurement.measure",
    "models": "catalogue.models",
    "occupancy": "catalogue.occupancy",
    "page": "page_server.page",
    "predict": "analysis.predict",
    "rank": "ranking.rank",
    "reproduce": "reproduction.reproduce",
    "run": "program_run.run",
    "simulate": "simulation.simulate",
    "snapshot": "review.snapshot",
    "sweep": "sweeping.sweep",
    "try": "advice.try_changes",
    "validate": "validation.validate",
}


class _Commands(click.Group):
    """Turns our errors into one sentence on stderr and the exit code of the contract."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(".")
        command: click.Command = getattr(import_module(f"warpbound.cli.{module}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        if word not in COMMANDS and not word.startswith("-"):
            from difflib import get_close_matches

            near = [f"analyze {word}"] if Path(word).suffix else get_close_matches(word, COMMANDS, 1)
            if near:
                raise click.UsageError(f"No such command '{word}'. Did you mean '{near[0]}'?", ctx)
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **settings: Any) -> NoReturn:
        settings["standalone_mode"] = False
        gc.set_threshold(OBJECTS_BEFORE_COLLECTION)
        _ready_to_write()
        try:
            code = super().main(*args, **settings)
        except WarpboundError as error:
            code = _complain(str(error), 2 if isinstance(error, CommandError) else 1)
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            code = 2
        except click.ClickException as error:
            command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "warpbound"
            code = _complain(f"{error.format_message()} See `{command} --help`.", 2)
        except (click.Abort, KeyboardInterrupt):
            code = _complain("stopped.", 1)
        except BrokenPipeError:
            _drop_output()
            code = 0
        except OSError as failed:
            code = _complain(_refused(failed), 1)
            if failed.errno in CANNOT_WRITE:
                _drop_output()
        except Exception as fault:  # noqa: BLE001  (a user is never shown a traceback)
            code = _complain(_own(fault), 1)
        sys.exit(code or 0)


def _ready_to_write() -> None:
    """Closed streams discard output; characters that the terminal's encoding lacks become question marks."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115  (until the process ends)
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def _drop_output() -> None:
    """Discard the remaining standard output; else Python would try to write it again as it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refused(failed: OSError) -> str:
    """An error of the operating system as a sentence, unless it is a fault of our own."""
    if failed.errno in CANNOT_WRITE:
        return f"the answer cannot be written ({failed.strerror}). Free some space, or write elsewhere."
    try:
        os.getcwd()
    except OSError:
        return "the current folder is gone. Change to one that exists."
    return _own(failed)


def _own(fault: Exception) -> str:
    where = traceback.extract_tb(fault.__traceback__)[-1]
    place = f"{Path(where.filename).name}:{where.lineno}"
    return f"internal error: {type(fault).__name__}: {fault} ({place}). Please report it."


def _complain(sentence: str, code: int) -> int:
    click.echo(f"warpbound: {sentence}", err=True)
    return code


@click.group(cls=_Commands, epilog=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="warpbound")
def main() -> None:
    """Tell what bounds a GPU kernel and what to do about it, from its source alone."""
