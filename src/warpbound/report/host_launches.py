"""The launches of host code as text."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from warpbound.result.host_launches import HostArgument, HostLaunch, HostLaunches, HostSize


def pages(answer: HostLaunches) -> Iterator[RenderableType]:
    """One block per launch, then what is not launched."""
    if not answer.launches:
        yield Text(
            f"{answer.file} has no host code that launches a kernel; what libraries launch is seen when the program "
            "runs: warpbound run -- FILE.cu"
        )
    for launch, lines in distinct(answer.launches):
        yield Group(_title(launch, lines), _table(launch), _needed(launch), Text())
    if answer.not_launched:
        yield Text(f"Not launched by the host code here: {', '.join(answer.not_launched)}.", "dim")
    if answer.symbols:
        yield Text(f"The host writes these variables of the device: {', '.join(answer.symbols)}.", "dim")


def distinct(launches: Sequence[HostLaunch]) -> list[tuple[HostLaunch, list[int]]]:
    """Launches that differ in more than their line, each with its lines; a reached launch replaces others."""
    result: list[tuple[HostLaunch, list[int]]] = []
    for launch in sorted(launches, key=lambda launch_: not launch_.is_reached):
        lines = next((lines for other, lines in result if _alike(other, launch)), None)
        if lines is None:
            result.append((launch, [launch.line]))
        elif launch.line not in lines:
            lines.append(launch.line)
    return sorted(((launch, sorted(lines)) for launch, lines in result), key=lambda pair: pair[1])


def _alike(first: HostLaunch, second: HostLaunch) -> bool:
    keys = ("kernel", "file", "grid", "block", "smem", "arguments", "varies")
    return all(getattr(first, key) == getattr(second, key) for key in keys)


def _title(launch: HostLaunch, lines: Sequence[int]) -> Text:
    place = f"line{'s' * (len(lines) > 1)} {', '.join(str(line) for line in lines)}"
    title = Text.assemble((launch.kernel, "bold"), f"   {launch.file}, {place}, in {launch.function}")
    if launch.form != "<<<>>>":
        title.append(f", by {launch.form}")
    if not launch.is_reached:
        title.append("; the program does not come here when it is called like this", "dim")
    return title


def _table(launch: HostLaunch) -> Table:
    table = Table.grid(padding=(0, 2))
    for column in ("", "", ""):
        table.add_column(column, overflow="fold")
    table.add_row("  grid", _size(launch.grid), Text(launch.grid.expression, "dim"))
    table.add_row("  block", _size(launch.block), Text(launch.block.expression, "dim"))
    if launch.smem.value != 0:
        value = launch.smem.remains if launch.smem.value is None else str(launch.smem.value)
        table.add_row("  smem", f"{value} bytes", Text(launch.smem.expression, "dim"))
    for argument in launch.arguments:
        table.add_row(f"  {argument.name}", Text(_value(argument)), Text(argument.expression, "dim"))
    return table


def _size(size: HostSize) -> str:
    return ", ".join(size.parts)


def _value(argument: HostArgument) -> str:
    array = argument.array
    if array is None:
        return str(argument.value) if argument.value is not None else f"{argument.remains} ({argument.type})"
    if array.alias is not None:
        return f"the memory of {array.alias}" + (f" from byte {array.offset_B}" if array.offset_B else "")
    count = str(array.elements) if array.elements is not None else array.remains or "?"
    return f"{array.dtype}[{count}]" + (f":{array.fill}" if array.fill else "")


def _needed(launch: HostLaunch) -> Text:
    text = Text("  ")
    if launch.varies:
        text.append("Other passes launch it with other values; these are the first. ", "dim")
    if launch.needed:
        return text.append(f"To fill in: {'; '.join(launch.needed)}.", "yellow")
    return text.append("All values are known.", "green")


def names(launches: Sequence[HostLaunch], stem: str) -> list[str]:
    """A file name without ending for each launch: the stem; of several with the kernel, and its line if needed."""
    if len(launches) == 1:
        return [stem]
    kernels = [
        "".join(letter if letter.isalnum() else "_" for letter in launch.kernel).strip("_") for launch in launches
    ]
    return [f"{stem}-{kernel}" if kernels.count(kernel) == 1 else f"{stem}-{kernel}-{launch.line}"
            for kernel, launch in zip(kernels, launches, strict=True)]  # fmt: skip
