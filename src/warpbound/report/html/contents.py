"""What stands in the HTML report and in which order, for one answer or for several side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from warpbound.analysis.entries import Entry
from warpbound.report.figures.listing import listing
from warpbound.report.figures.picture import Drawable
from warpbound.report.html.illustrations import beside, latency_stack
from warpbound.report.html.tables import as_html
from warpbound.report.table import side_by_side
from warpbound.report.text import VIEWS, headline, subline

FIRST = ("verdict", "whatifs")  # what is wanted first; the other views keep the order of the text report
OWN_TABLE = {"sass"}  # views that have a table of their own here
INTRODUCTIONS = {
    "verdict": "How long one launch takes and what holds it up. A kernel is held up by the resource that one warp "
    "occupies longest, unless too few warps are resident to hide the time that each one spends waiting.",
    "whatifs": "Each line is one change, made to the model of this kernel and predicted again. A factor of 1.20x "
    "means that the launch takes 1/1.20 of the time.",
    "latency": "A warp is 32 threads that run together. This is the least time of one warp alone on the machine, "
    "every cycle booked on what the warp then waits for.",
    "bounds": "An SM is one of the GPU's processors. Whatever the number of warps, each of them occupies each "
    "resource for so many cycles; the resource with most cycles limits the throughput.",
    "stalls": "While the kernel runs with all its warps, what each warp's place on the SM is taken up by.",
    "accesses": "What each memory instruction costs, as far as its address arithmetic tells without running it.",
    "occupancy": "Occupancy is the number of warps resident on an SM at once. Other warps work while one waits; "
    "registers, shared memory and block size decide how many fit.",
    "kernel": "What the compiler made of the source.",
    "loops": "What one iteration costs, and how many threads it takes to keep the tightest resource busy.",
    "memory": "Requests are instructions of a warp; a sector is 32 bytes, the least that memory moves. Four sectors "
    "per request is what 32 neighbouring 4-byte words need.",
    "sass": "SASS is the machine code. The compiler schedules it: each instruction carries the cycles to stall and "
    "the scoreboards it raises (w when its result is written, r when its operands are read) or waits for.",
    "models": "What published models say of the same counts, each in its own terms.",
    "confidence": "What this rests on, and what was assumed because it is not known.",
}
HOW_TO_READ = (
    "Read from the top: the verdict, what to do about it, then why. Numbers are predictions from the compiled code and "
    "the launch; no GPU was involved. Times are of one launch, cycles are of the SM's clock, k, M and G are thousands, "
    "millions and thousand millions."
)


@dataclass(frozen=True)
class Section:
    """A part of the report on one answer."""

    key: str
    title: str
    introduction: str
    body: Markup
    figures: tuple[Any, ...]
    rows: tuple[Any, ...] = ()  # of annotated SASS


@dataclass(frozen=True)
class Column:
    """One answer."""

    key: str
    headline: str
    subline: str
    first: tuple[Section, ...]
    rest: tuple[Section, ...]


Add = Callable[[Drawable], Any]


def contents(results: Sequence[Entry], add: Add, views: Sequence[str] = ()) -> dict[str, Any]:
    """What the template fills in; `add` numbers a figure of the page. views : those to show, or all."""
    answered = [entry for entry in results if "error" not in entry]
    several = len(results) > 1
    stack = latency_stack(answered) if several and (not views or "latency" in views) else None
    together = (add(stack),) if stack is not None else ()
    shown = views or tuple(VIEWS)
    columns = [_column(entry, f"answer-{number}", add, shown) for number, entry in enumerate(answered, 1)]
    return {
        "title": columns[0].headline if len(columns) == 1 else "Side by side",
        "how_to_read": HOW_TO_READ,
        "comparison": as_html(side_by_side(results)) if several else None,
        "together": together,
        "columns": columns,
    }


def _column(entry: Entry, key: str, add: Add, views: Sequence[str]) -> Column:
    there = [name for name, view in VIEWS.items() if name in views and view.has(entry)]
    first = [name for name in FIRST if name in there]
    return Column(
        key=key,
        headline=headline(entry),
        subline=subline(entry),
        first=tuple(_section(name, entry, add) for name in first),
        rest=tuple(_section(name, entry, add) for name in there if name not in first),
    )


def _section(name: str, entry: Entry, add: Add) -> Section:
    own = name in OWN_TABLE
    return Section(
        key=name,
        title=VIEWS[name].title,
        introduction=INTRODUCTIONS.get(name, ""),
        body=Markup("") if own else as_html(VIEWS[name].show(entry)),
        figures=tuple(add(picture) for picture in beside(name, entry)),
        rows=tuple(listing(entry["sass"], entry["lines"])) if own else (),
    )
