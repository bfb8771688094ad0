"""The contents of the HTML report and their order, for one answer or for several side by side."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup
from rich.console import RenderableType

from warpbound.quick_dataclasses import dataclass
from warpbound.report.figures.picture import Drawable
from warpbound.report.html.elements import as_html, markup, sass_listing
from warpbound.report.html.illustrations import figures_of_view, latency_stack
from warpbound.report.side_by_side import side_by_side
from warpbound.report.text import DETAILS, VIEWS, headline, subline
from warpbound.result.kernel import KernelResult
from warpbound.result.refusal import Refusal

FIRST = ("verdict", "whatifs")  # these views come first; the others keep the order of the text report
INTRODUCTIONS = {
    "verdict": "The time of one launch and its bottleneck. The bottleneck is the resource that one warp occupies "
    "longest, unless too few warps are resident to hide the time that each warp spends waiting: then it is latency.",
    "whatifs": "Each line is one change to the model of this kernel, with a new prediction. A factor of 1.20x "
    "means that the launch takes 1/1.20 of the time.",
    "latency": "A warp is 32 threads that run together. This is the least time of one warp alone on the machine, "
    "each cycle attributed to the event that the warp waits for.",
    "bounds": "An SM is one of the GPU's processors. Each warp occupies each resource for the given number of cycles; "
    "the resource with the most cycles limits the throughput. An SM has an even share of L2 and DRAM. "
    "The row of latency is the least time of one warp divided by the number of resident warps.",
    "stalls": "The time of a resident warp by stall reason, as Nsight Compute counts them, while all resident warps "
    "run; each reason with the event that the warp waits for.",
    "accesses": "The cost of one request of each memory instruction: sectors of 32 bytes in global memory, wavefronts "
    "(passes) in shared memory. Where the cost exceeds the minimum, the last column gives the reason.",
    "occupancy": "Occupancy is the number of warps resident on an SM at once. Other warps work while one waits; "
    "registers, shared memory and block size decide how many fit.",
    "kernel": "Registers, shared memory and instructions of the compiled kernel.",
    "loops": "The cost of one iteration, and the number of threads that keeps the tightest resource busy.",
    "memory": "A request is one memory instruction of a warp; a sector is 32 bytes, the smallest transfer. 32 "
    "consecutive 4-byte words need four sectors per request.",
    "sass": "SASS is the machine code. The compiler schedules it: each instruction encodes the cycles to stall after "
    "it, and the scoreboards (flags of pending results) that it sets or waits for.",
    "models": "Predictions of published models from the same counts, each in its own terms, for comparison; the "
    "verdict is warpbound's own.",
    "confidence": "Expected error, the largest uncertainties, and assumptions in place of unknown values.",
}
HOW_TO_READ = (
    "Read from the top: verdict, best changes, then reasons. Numbers are predictions from the compiled code and "
    "the launch; no GPU was involved. Times are of one launch, cycles are of the SM's clock, k, M and G are thousands, "
    "millions and thousand millions."
)


WORDS = {
    "block": "threads that share one SM and its shared memory; a launch's blocks form its grid",
    "warp": "32 threads of a block that run together; each thread is one of its lanes",
    "SM": "streaming multiprocessor, one of the GPU's processors; it holds several blocks at once",
    "occupancy": "warps resident on an SM over the most it can hold",
    "latency": "cycles from the issue of an instruction to its result; hidden while other warps have work",
    "bound": "the throughput that one resource, or latency, allows by itself; the tightest bound binds",
    "pipe": "an SM's unit for one kind of instruction: fma (multiply-add), alu (integers, logic), lsu (loads, stores), "
    "xu (special functions), tensor, uniform (values of a whole warp), adu (constants, special registers), cbu "
    "(branches, barriers)",
    "request": "one memory instruction of one warp",
    "sector": "32 bytes, the smallest transfer of a cache or DRAM; a line is four sectors",
    "coalesced": "a request is coalesced if its lanes access no more sectors than their bytes fill",
    "wavefront": "one pass through shared memory; distinct words of one bank need one pass each (a bank conflict)",
    "scoreboard": "a flag that an instruction sets until its result is ready, and that later instructions wait for",
    "ILP": "instruction-level parallelism: independent instructions, or loads, of one warp in flight at once",
    "spills": "registers stored in local memory because too few are free",
    "roofline": "the smaller of peak arithmetic and bandwidth times flop per byte",
    "what-if": "a new prediction with one change",
}


@dataclass(frozen=True)
class Section:
    """A part of the report on one answer."""

    key: str
    title: str
    introduction: str
    body: Markup
    figures: tuple[Any, ...]


@dataclass(frozen=True)
class Column:
    """One answer."""

    key: str
    headline: str
    subline: str
    first: tuple[Section, ...]
    rest: tuple[Section, ...]


Add = Callable[[Drawable], Any]


def contents(results: Sequence[KernelResult | Refusal], add: Add, views: Sequence[str] = ()) -> dict[str, Any]:
    """What the template fills in; `add` numbers a figure of the page. views : those to show, or all."""
    answers = [entry for entry in results if not isinstance(entry, Refusal)]
    several = len(results) > 1
    stack = latency_stack(answers) if several and (not views or "latency" in views) else None
    together = (add(stack),) if stack is not None else ()
    names = views or DETAILS
    columns = [_column(entry, f"answer-{number}", add, names) for number, entry in enumerate(answers, 1)]
    return {
        "title": columns[0].headline if len(columns) == 1 else "Side by side",
        "how_to_read": HOW_TO_READ,
        "comparison": as_html(side_by_side(results)) if several else None,
        "together": together,
        "columns": columns,
        "words": WORDS,
    }


def _column(entry: KernelResult, key: str, add: Add, views: Sequence[str]) -> Column:
    shown_views = [name for name, view in VIEWS.items() if name in views and view.has(entry)]
    first = [name for name in FIRST if name in shown_views]
    return Column(
        key=key,
        headline=headline(entry),
        subline=subline(entry),
        first=tuple(_section(name, entry, add) for name in first),
        rest=tuple(_section(name, entry, add) for name in shown_views if name not in first),
    )


def _section(name: str, entry: KernelResult, add: Add) -> Section:
    return Section(
        key=name,
        title=VIEWS[name].title,
        introduction=INTRODUCTIONS.get(name, ""),
        body=markup(sass_listing(entry)) if name == "sass" else as_html(VIEWS[name].show(entry)),
        figures=tuple(add(picture) for picture in figures_of_view(name, entry)),
    )


class Part(NamedTuple):
    """A heading, what the terminal shows under it, and figures."""

    title: str
    body: Iterable[RenderableType]
    figures: Sequence[Drawable] = ()


def plain_contents(title: str, how_to_read: str, parts: Sequence[Part], add: Add) -> dict[str, Any]:
    """What the template fills in; `add` numbers a figure of the page."""
    sections = tuple(_part_section(number, part, add) for number, part in enumerate(parts, 1))
    column = Column("parts", title, "", sections[:1], sections[1:])
    return {"title": title, "how_to_read": how_to_read, "comparison": None, "together": (), "columns": [column]}


def _part_section(number: int, part: Part, add: Add) -> Section:
    body = Markup("\n").join(as_html(renderable) for renderable in part.body)
    return Section(f"part-{number}", part.title, "", body, tuple(add(picture) for picture in part.figures))
