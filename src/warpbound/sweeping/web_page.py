"""A sweep as a page: a figure of two quantities with the front, its table, and the boards that reach the target.

A form chooses kernel, board and quantities; the server draws, so that the page needs no script but one that sends the
form when a choice changes.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from warpbound.report.formatting import count
from warpbound.sweeping import parameter_plane, storage
from warpbound.sweeping.parameter_plane import Choice, Plane
from warpbound.sweeping.pareto_fronts import Summary, summary
from warpbound.sweeping.text import boards_pages, points_table

SCRIPT = "for (const field of document.querySelectorAll('select')) field.onchange = () => field.form.submit();\n"
ROWS = 40
FRONT = "No point has less of one quantity without more of the other. The numbers are those of the figure."
TARGETS = ("1.25", "1.5", "2", "3")


def page(path: Path, query: Mapping[str, str]) -> str:
    """The HTML for the values of a form: kernel, gpu, x, y, target; an unknown value becomes the first choice.

    Raises InputError where there are no results yet, MissingTool without the extra.
    """
    rows = storage.so_far(path)
    kernels, boards, objectives = parameter_plane.choices(rows)
    names = [f"{source}, {launch}" for source, launch in kernels]
    source, launch = kernels[_place(names, query.get("kernel", ""))]
    gpu = query.get("gpu", "")
    x = objectives[_place(objectives, query.get("x", "time_s"))] if objectives else "time_s"
    others = [name for name in objectives if name != x] or [x]
    usual = next((name for name in others if name.endswith(parameter_plane.TIMES)), "registers")
    y = others[_place(others, query.get("y", usual))]
    choice = Choice(source, launch, gpu if gpu in boards else "", x, y)
    target = TARGETS[_place(TARGETS, query.get("target", "1.5"))]
    words = {name: parameter_plane.described(name)[0] for name in objectives}
    fields = (
        ("kernel", "Kernel and launch", {name: name for name in names}, f"{source}, {launch}"),
        ("gpu", "Board", {"": "all boards", **{board: board for board in boards}}, choice.gpu),
        ("x", "To the right", words, x),
        ("y", "Upwards", {name: words[name] for name in others if name in words}, y),
        ("target", "Boards for a speed-up of", {each: f"{each}x" for each in TARGETS}, target),
    )
    return _html(path, fields, parameter_plane.plane(rows, choice), summary(rows, float(target)))


def _place(names: Sequence[str], word: str) -> int:
    return names.index(word) if word in names else 0


def _html(path: Path, fields: Sequence[tuple[str, str, Mapping[str, str], str]], plane_: Plane, all_: Summary) -> str:
    from markupsafe import Markup

    from warpbound.report.figures.svg import svg
    from warpbound.report.html.elements import as_html

    missing = f", {all_.without_answer} without an answer" if all_.without_answer else ""
    form = Markup("").join(_field(Markup, *field) for field in fields)
    parts = [Markup('<figure class="plot">{}</figure>').format(Markup(svg(parameter_plane.picture(plane_))))]
    if plane_.front:
        rows = plane_.front[:ROWS]
        parts.append(Markup("<h3>The front</h3><p>{}</p>").format(FRONT))
        parts.append(as_html(points_table(rows, [str(place + 1) for place in range(len(rows))])))
    elif plane_.unknown:
        parts.append(Markup("<p>No answer: {} of this choice.</p>").format(count(plane_.unknown, "point")))
    parts += [as_html(part) for part in boards_pages(all_, ROWS)]
    return str(_frame(Markup).format(path.name, count(all_.points, "point"), missing, form, Markup("").join(parts)))


def _field(markup: Any, name: str, label: str, options: Mapping[str, str], current: str) -> Any:
    words = markup("").join(
        markup('<option value="{}"{}>{}</option>').format(value, markup(" selected" if value == current else ""), text)
        for value, text in options.items()
    )
    select = markup('<select id="{0}" name="{0}">{1}</select>').format(name, words)
    return markup('<div class="field"><label for="{}">{}</label>{}</div>').format(name, label, select)


def _frame(markup: Any) -> Any:
    return markup(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>warpbound: {0}</title>'
        '<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/assets/page.css">'
        '<script src="/sweep.js" defer></script></head><body><header><h1>warpbound</h1>'
        '<p>{0}: {1}{2}</p><a href="/">One kernel</a></header><main><form method="get"><div class="row">{3}'
        "<button>Show</button></div></form>{4}</main></body></html>"
    )
