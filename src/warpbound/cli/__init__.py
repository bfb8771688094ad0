"""The command line: the one place that prints and exits."""

import os
import sys
import traceback
from pathlib import Path
from typing import Any, NoReturn

import click

from warpbound.cli import (
    analysing,
    camping,
    coalescing,
    counting,
    machines,
    measuring,
    paging,
    reproducing,
    simulating,
    validating,
)
from warpbound.errors import CommandError, WarpboundError


class _Commands(click.Group):
    """Turns our errors into one sentence on stderr and the exit code of the contract."""

    def main(self, *args: Any, **settings: Any) -> NoReturn:
        settings["standalone_mode"] = False
        try:
            code = super().main(*args, **settings)
        except WarpboundError as error:
            code = _complain(str(error), 2 if isinstance(error, CommandError) else 1)
        except click.ClickException as error:
            code = _complain(f"{error.format_message()} See `warpbound --help`.", 2)
        except (click.Abort, KeyboardInterrupt):
            code = _complain("stopped.", 1)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            code = 0
        except Exception as fault:  # noqa: BLE001  (a user is never shown a traceback)
            where = traceback.extract_tb(fault.__traceback__)[-1]
            place = f"{Path(where.filename).name}:{where.lineno}"
            code = _complain(f"a fault of ours: {type(fault).__name__}: {fault} ({place}). Please report it.", 1)
        sys.exit(code or 0)


def _complain(sentence: str, code: int) -> int:
    click.echo(f"warpbound: {sentence}", err=True)
    return code


@click.group(cls=_Commands, epilog=analysing.EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="warpbound")
def main() -> None:
    """Tell what bounds a GPU kernel and what to do about it, from its source alone."""


for _command in (
    analysing.analyze,
    analysing.curve,
    analysing.predict,
    coalescing.coalescing,
    counting.count,
    machines.occupancy,
    machines.gpus,
    machines.models,
    machines.doctor,
    measuring.measure,
    paging.page,
    reproducing.reproduce,
    camping.campprof,
    simulating.simulate,
    validating.validate,
):
    main.add_command(_command)
