"""The report as one HTML file that opens without a network: the text report's words and tables, with figures.

Plotly's script, the styles and the data are in the file; a policy in its head forbids it to fetch anything.
"""

import importlib
import json
import re
from collections.abc import Sequence
from importlib import metadata, resources
from typing import TYPE_CHECKING, Any

import numpy as np

from warpbound.errors import InputError, WarpboundError
from warpbound.quick_dataclasses import dataclass
from warpbound.report.figures.drawing import colour_changes, spec
from warpbound.report.figures.picture import Boxes, Drawable, Panels, Picture, narrowed, numbers
from warpbound.report.figures.theme import DARK, LIGHT, Theme
from warpbound.report.figures.traces import Spec

if TYPE_CHECKING:
    from warpbound.camping.kernel_counters import Executed
    from warpbound.report.html.contents import Part
    from warpbound.result.campprof import CampingBand
    from warpbound.result.comparison import CounterErrors, LaunchComparison, NotCompared
    from warpbound.result.curve import OccupancyCurve
    from warpbound.result.kernel import KernelResult
    from warpbound.result.refusal import Refusal
    from warpbound.result.workload import WorkloadResult

SIDE_BY_SIDE = 4
LONG_NAME = 24  # characters
MANY_BOXES = 10
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff]")  # no HTML text may hold them
VIEWS = ("sass", "figures", "simulation")  # what the analysis has to add for this report


@dataclass(frozen=True)
class Figure:
    """A drawing with its words; `number` names it in the page."""

    number: int
    title: str
    caption: str
    source: str
    spec: Spec
    kind: str  # "panels", long names and many boxes may scroll on a narrow screen

    @property
    def json(self) -> str:
        """JSON for a script element, escaped so that it cannot end the element."""
        text = json.dumps(self.spec, separators=(",", ":"))
        return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def refuse_many(count: int) -> None:
    """Raises InputError for more answers than stand side by side."""
    if count > SIDE_BY_SIDE:
        raise InputError(
            f"The HTML report shows up to {SIDE_BY_SIDE} answers side by side; there are {count}.",
            "Name fewer GPUs or files, or one kernel with --kernel.",
        )


def page(results: "Sequence[KernelResult | Refusal]", command: str, views: Sequence[str] = ()) -> str:
    """The whole file, with every view or those named.

    Raises InputError for more than four results, WarpboundError where the extra is missing.
    """
    refuse_many(len(results))
    needed("jinja2")
    from warpbound.report.html.contents import contents

    figures = Figures()
    return filled(contents(results, figures.add, views), figures, command)


def curve_page(results: "Sequence[OccupancyCurve | Refusal]", command: str) -> str:
    """The same for throughput against occupancy: one figure, a table for each answer."""
    refuse_many(len(results))
    needed("jinja2")
    from warpbound.report.html.curves import contents

    figures = Figures()
    return filled(contents(results, figures.add), figures, command)


def workload_page(results: "Sequence[WorkloadResult | Refusal]", command: str) -> str:
    """Predictions of every model for hand-written workloads, one section each."""
    needed("jinja2")
    from warpbound.report.html.contents import Part
    from warpbound.report.html.illustrations import written
    from warpbound.report.models import details, pages
    from warpbound.result import refusal

    parts = [
        Part(f"{entry.kernel} on {entry.gpu}", pages([entry]))
        if isinstance(entry, refusal.Refusal)
        else Part(f"{entry.kernel} on {entry.gpu_name}", [details(entry)], written(entry))
        for entry in results
    ]
    return plain_page("Workloads as written", WORKLOADS, parts, command)


def comparison_page(
    launches: "Sequence[LaunchComparison | NotCompared]", rows: "Sequence[CounterErrors]", command: str
) -> str:
    """Measured beside predicted: one section for each launch, and the errors of all."""
    needed("jinja2")
    from warpbound.report.comparison import errors_table, launch_text
    from warpbound.report.html.contents import Part
    from warpbound.result.comparison import LaunchComparison

    comparisons = [launch for launch in launches if isinstance(launch, LaunchComparison)]
    parts = [Part("Errors over all launches", [errors_table(rows)])] if len(comparisons) > 1 else []
    for each in comparisons:
        parts.append(Part(f"{each.kernel}, launch {each.launch_index} on {each.gpu}", [launch_text(each)]))
    return plain_page("Measured and predicted", COMPARISONS, parts, command)


COMPARISONS = (
    "Counters that Nsight Compute measured, beside what warpbound predicts for the same machine code, launch and "
    "clocks. A ratio above 1 means that the prediction is too high."
)
WORKLOADS = (
    "Predictions of the published models and of warpbound's own for hand-written workloads. If a model has no "
    "prediction, the reason follows."
)


def camping_page(entry: "CampingBand", title: str, ran: "Executed | None", command: str) -> str:
    """The camping band; where the kernel was executed, the partitions that its blocks meet at."""
    needed("jinja2")
    from warpbound.report.camping import band_text
    from warpbound.report.figures.camping import blocks_at_partitions, camping_band, partition_shares
    from warpbound.report.html.contents import Part

    times = (entry.best_s, entry.worst_s, entry.application_s or ())
    parts = [Part("Best and worst time", [band_text(entry)], [camping_band(entry.warps_per_sm, *times)])]
    if ran is not None:
        pictures = [blocks_at_partitions(ran.partition_at), partition_shares(ran.bytes_at)]
        parts.append(Part("Memory partitions", [], pictures))
    return plain_page(title, CAMPING, parts, command)


CAMPING = (
    "The addresses of this board's memory are interleaved over partitions, each with a queue. Where many blocks access "
    "one partition at the same time, they camp: the other partitions idle. The band runs from the time without "
    "camping to the time with every access camping."
)


def plain_page(title: str, how_to_read: str, parts: "Sequence[Part]", command: str) -> str:
    """Any text report as a page: each part under its heading, with its figures."""
    needed("jinja2")
    from warpbound.report.html.contents import plain_contents

    figures = Figures()
    return filled(plain_contents(title, how_to_read, parts, figures.add), figures, command)


def filled(parts: dict[str, Any], figures: "Figures", command: str) -> str:
    """The file of a page from its parts: title, how_to_read, comparison, together, columns."""
    jinja = needed("jinja2")
    loader = jinja.PackageLoader("warpbound.report.html", "")
    template = jinja.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    whole: str = template.get_template("page.html.j2").render(
        **parts,
        command=command,
        version=metadata.version("warpbound"),
        figures=figures.drawn,
        plotly=plotly_script(),
        style=_part("style.css"),
        script=narrow_script() + _part("page.js"),
        dark=json.dumps(figures.dark),
    )
    return _CONTROL.sub("\ufffd", whole)


class Figures:
    """Numbers the figures of a page as they come."""

    def __init__(self) -> None:
        self.drawn: list[Figure] = []
        self.dark: dict[str, str] = {}  # colour on light paper -> its counterpart on dark paper

    def add(self, picture: Drawable) -> Figure:
        light, dark = (_drawn(picture, theme) for theme in (LIGHT, DARK))
        kind = "panels" if isinstance(picture, Panels) or _wide(picture) else "plain"
        figure = Figure(len(self.drawn) + 1, picture.title, picture.caption, picture.source, light, kind)
        self.drawn.append(figure)
        self.dark |= colour_changes(light, dark)
        return figure


def _drawn(picture: Drawable, theme: Theme) -> Spec:
    """Its drawing; as `narrow` that for narrow screens where it is another."""
    narrow = narrowed(picture)
    return spec(picture, theme) | ({"narrow": spec(narrow, theme)} if narrow is not picture else {})


def _wide(picture: Picture) -> bool:
    """Whether a phone has no room for it: long names beside the plot, or many boxes with words beside each other."""
    boxes = [layer for layer in picture.layers if isinstance(layer, Boxes) and layer.texts]
    beside = [len(np.unique(numbers(layer.left))) for layer in boxes]
    return max(map(len, picture.y.names), default=0) > LONG_NAME or max(beside, default=0) > MANY_BOXES


def needed(module: str) -> Any:
    """A module of the extra. Raises WarpboundError where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError as missing:
        raise WarpboundError(
            f"The HTML report needs {module}, which is not installed.",
            "Install it with: pip install 'warpbound[figures]'",
        ) from missing


def plotly_script() -> str:
    """Plotly's own, minified; control characters in its literals, which HTML does not allow, as escapes."""
    needed("plotly")
    text = (resources.files("plotly") / "package_data" / "plotly.min.js").read_text(encoding="utf-8")
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def narrow_script() -> str:
    """What figures do on a narrow screen, for the report and for the page."""
    return _part("narrow.js")


def _part(name: str) -> str:
    return (resources.files("warpbound.report.html") / name).read_text(encoding="utf-8")
