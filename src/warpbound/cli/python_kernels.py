"""`analyze` of the kernels of Python files: FILE.py:KERNEL."""

import warnings
from functools import partial
from typing import Any

from warpbound.cli.output import command_line, show_results, with_progress, write
from warpbound.errors import CommandError, WarpboundError

MORE_THAN_ONE = "Kernels of Python files and other files are given together, or several kernels."
NO_GRID = "A kernel of a Python file needs a launch."


def of_python(files: tuple[str, ...]) -> bool:
    """Whether it is a kernel of a Python file. Raises CommandError where it is one of several files."""
    from warpbound.python_files import file_kernel

    if not any(".py:" in name and file_kernel(name) for name in files):
        return False
    if len(files) > 1:
        raise CommandError(MORE_THAN_ONE, "Analyze them one after the other.")
    return True


def analyze_python(form: str, out: str | None, options: dict[str, Any]) -> None:
    """`analyze` of FILE.py:KERNEL, for each board."""
    from warpbound.cli.request import parse_request
    from warpbound.python_files import FileKernel, file_kernel, loaded
    from warpbound.report.text import pages
    from warpbound.result.refusal import refusal

    kernel_in_name = file_kernel(options["files"][0])
    assert isinstance(kernel_in_name, FileKernel)
    kernel, language = loaded(kernel_in_name)
    if not options["launch_file"]:
        options = options | {"grid": options["grid"] or language.grid, "block": options["block"] or language.block}
    if not options["launch_file"] and not options["grid"]:
        raise CommandError(NO_GRID, "Add --grid, and --block for the threads of a block, or --launch FILE.")
    request = parse_request(**options | {"files": (str(kernel_in_name.path),)})
    assert request.launch is not None
    defines = dict(request.options.defines)
    results: list[Any] = []
    failures: list[WarpboundError] = []
    for board in with_progress((f"{kernel_in_name.name} on {board.key}", board) for board in request.gpus):
        try:
            with warnings.catch_warnings(action="ignore"):  # of the compilers, on their own defaults
                ready = language.adapter.of_launch(kernel, board, request.launch, defines)
                results.append(ready.record(board, request.settings))
        except WarpboundError as error:
            failures.append(error)
            results.append(refusal(kernel_in_name.name, board.key, error))
    if len(failures) == len(results):
        raise failures[0]
    if form == "html":
        from warpbound.report import html

        html.refuse_many(len(results))
        write(html.page(results, command_line(), ()), out)
        return
    show_results(form, out, results, partial(pages, views=request.settings.views or ("summary",)))
