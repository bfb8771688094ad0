"""`analyze` of Triton kernels: FILE.py:KERNEL."""

import warnings
from functools import partial
from typing import Any

from warpbound.cli.output import announced, command_line, show_results, write
from warpbound.errors import CommandError, WarpboundError

MORE_THAN_ONE = "Triton kernels and other files are given together, or several kernels."
NO_GRID = "A Triton kernel needs a launch."
WARPS = "128"  # threads of a block where none are given: Triton's four warps


def of_triton(files: tuple[str, ...]) -> bool:
    """Whether it is a Triton kernel. Raises CommandError where it is one of several files."""
    from warpbound.triton.files import file_kernel

    if not any(".py:" in name and file_kernel(name) for name in files):
        return False
    if len(files) > 1:
        raise CommandError(MORE_THAN_ONE, "Analyze them one after the other.")
    return True


def analyze_triton(form: str, out: str | None, options: dict[str, Any]) -> None:
    """`analyze` of FILE.py:KERNEL, for each board."""
    from warpbound.cli.request import parse_request
    from warpbound.report.text import pages
    from warpbound.result.refusal import refusal
    from warpbound.triton.files import FileKernel, analyzed_launch, file_kernel, loaded

    kernel_in_name = file_kernel(options["files"][0])
    assert isinstance(kernel_in_name, FileKernel)
    if not options["launch_file"]:
        if not options["grid"]:
            raise CommandError(NO_GRID, "Add --grid, and --block for the number of warps, or --launch FILE.")
        options = options | {"block": options["block"] or WARPS}
    request = parse_request(**options | {"files": (str(kernel_in_name.path),)})
    assert request.launch is not None
    kernel, defines = loaded(kernel_in_name), dict(request.options.defines)
    results: list[Any] = []
    failures: list[WarpboundError] = []
    for board in announced((f"{kernel_in_name.name} on {board.key}", board) for board in request.gpus):
        try:
            with warnings.catch_warnings(action="ignore"):  # of Triton, on its own defaults
                results.append(analyzed_launch(kernel, board, request.launch, defines, request.settings))
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
