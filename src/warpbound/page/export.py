"""Downloads: the answer as JSON or as a report that opens without a network. The browser itself makes pictures."""

from dataclasses import replace
from typing import Any

import msgspec
from rich.text import Text

from warpbound import machine
from warpbound.page.analysis_service import CAMPING, AnalysisService, mark
from warpbound.page.slider_updates import state_of
from warpbound.page.state import State, to_query
from warpbound.page.subject import Subject
from warpbound.page.views import REFUSED, VIEWS, draw_view, second_picture, sentence
from warpbound.page.views.camping import answered
from warpbound.report import figures as drawings
from warpbound.report import html
from warpbound.report.camping import band_text
from warpbound.report.document import as_json, document
from warpbound.report.html.contents import Column, Section, contents
from warpbound.report.html.elements import as_html
from warpbound.report.models import details
from warpbound.report.text import subline
from warpbound.result.plain import plain
from warpbound.result.quantities import SCHEMA_VERSION
from warpbound.result.workload import WorkloadResult

NOTHING = dict.fromkeys(("as-json", "as-html"), "There is no answer to export yet.")  # button -> why it gives nothing
LONGEST_SOURCE = 80  # characters of a packed text that the file names
HOW_TO_READ = (
    "Every view of the page that applies to these numbers. Times are of one launch, cycles are of the "
    "SM's clock, k, M and G are thousands, millions and thousand millions."
)


def exporting(app: Any, service: AnalysisService) -> None:
    """Answer the buttons JSON and Report."""
    from dash import Input, Output, ctx, no_update
    from dash import State as DashState

    @app.callback(  # type: ignore[untyped-decorator]
        Output("download", "data"),
        Output("problem", "children", allow_duplicate=True),
        Input("as-json", "n_clicks"),
        Input("as-html", "n_clicks"),
        DashState("settled", "data"),
        DashState("question", "data"),
        DashState("view", "value"),
        prevent_initial_call=True,
    )
    def take(_: Any, __: Any, settled: dict[str, Any] | None, question: dict[str, Any] | None, view: str) -> Any:
        state = state_of(question or {}, (settled or {}).get("values"), view)
        file, name = (as_file, "warpbound.json") if ctx.triggered_id == "as-json" else (as_report, "warpbound.html")
        try:
            return {"content": file(service.analyze(state), state), "filename": name}, ""
        except REFUSED as error:
            return no_update, sentence(error)


def unavailable_buttons(subject: Subject, state: State) -> dict[str, str]:
    """Button -> why it has no file for this answer; buttons with a file are left out."""
    if state.view != CAMPING:
        return {}
    try:
        answered(subject, dict(state.values))
    except REFUSED as error:
        return dict.fromkeys(("as-json", "as-html") if _newer(subject, state) else ("as-json",), sentence(error))
    return {}


def _newer(subject: Subject, state: State) -> bool:
    """Whether the code is that of a newer architecture, because no compiler supports the requested board."""
    return subject.compiled and subject.gpu.key != machine.gpu(state.gpu).key


def as_file(subject: Subject, state: State) -> str:
    """JSON as `analyze` and `predict` write it; of the camping band as `campprof predict`; else words and curves."""
    if state.view == CAMPING:
        return as_json({**plain(answered(subject, dict(state.values))), **_taken(subject, state)})
    if subject.entry is None:
        return as_json(_taken(subject, state) | _curves(subject, state))
    return as_json(document(_asked(state), [subject.entry]))


def _taken(subject: Subject, state: State) -> dict[str, Any]:
    """Metadata of a file beside its answer."""
    marks = [mark(change) for change in subject.changes if state.view in change.views]
    return {"schema_version": SCHEMA_VERSION, "command": _asked(state), "set_by_hand": marks}


def _curves(subject: Subject, state: State) -> dict[str, Any]:
    values = dict(state.values)
    output, further = draw_view(state.view, subject, values), second_picture(state.view, subject, values)
    pictures = [picture for picture in (output.picture, further) if picture is not None]
    return {
        "view": state.view,
        "words": list(output.words),
        "figures": [
            {
                "title": picture.title,
                "source": picture.source,
                "curves": [
                    {key: list(line[key]) if key != "name" else line[key] for key in ("name", "x", "y") if key in line}
                    for line in drawings.spec(picture)["data"]
                ],
            }
            for picture in pictures
        ],
    }


def as_report(subject: Subject, state: State) -> str:
    """The report of a kernel, of one on an old board its camping band; of other sources every view's figures."""
    figures = html.Figures()
    if _newer(subject, state):
        return html.filled(_with_partitions(subject, state, figures), figures, _asked(state))
    if subject.compiled:
        assert subject.kernel is not None
        filling = contents([subject.kernel], figures.add)
        (column,) = filling["columns"]
        section = _section(state.view, subject, dict(state.values), figures) if state.view == CAMPING else None
        column = replace(column, subline=described(subject), rest=(*column.rest, *filter(None, [section])))
        return html.filled(filling | {"columns": [column]}, figures, _asked(state))
    sections = [_section(name, subject, dict(state.values), figures) for name in VIEWS]
    if subject.entry is not None:
        sections.insert(0, _models(subject.entry))
    return html.filled(
        {
            "title": title(subject),
            "how_to_read": HOW_TO_READ,
            "comparison": None,
            "together": (),
            "columns": [Column("answer-1", title(subject), described(subject), (), tuple(filter(None, sections)))],
        },
        figures,
        _asked(state),
    )


def _with_partitions(subject: Subject, state: State, figures: html.Figures) -> dict[str, Any]:
    """The camping band alone: nothing else is known of a kernel on a board that no code is made for."""
    assert subject.kernel is not None
    assert subject.partition_board is not None
    values, code = dict(state.values), {"clock_MHz": None, "mode": "run on simulated memory partitions"}
    on = f"{subject.name} on the memory partitions of {subject.partition_board.name}"
    subline = described(replace(subject, entry=msgspec.structs.replace(subject.kernel, **code)), CAMPING)
    picture = draw_view(CAMPING, subject, values).picture
    band = tuple(figures.add(item) for item in (picture,) if item is not None)
    section = Section(CAMPING, "Best and worst time", "", as_html(band_text(answered(subject, values))), band)
    return {
        "title": on, "how_to_read": html.CAMPING, "comparison": None, "together": (),
        "columns": [Column("answer-1", on, subline, (), (section,))],
    }  # fmt: skip


def _section(name: str, subject: Subject, values: dict[str, float], figures: html.Figures) -> Any:
    """A view's figure of the subject; None where it has none."""
    output, further = draw_view(name, subject, values), second_picture(name, subject, values)
    pictures = [picture for picture in (output.picture, further) if picture is not None]
    body = as_html(Text("\n".join(output.words)))
    numbers = tuple(figures.add(picture) for picture in pictures)
    return Section(name, VIEWS[name].title, VIEWS[name].about, body, numbers) if numbers else None


def _models(entry: Any) -> Any:
    return Section("answer", "The answer", "", as_html(details(entry)), ())


def _asked(state: State) -> str:
    return f"warpbound page ?{to_query(replace(state, source=state.source[:LONGEST_SOURCE]))}"


def title(subject: Subject) -> str:
    """Title of the subject."""
    return f"{subject.name} on {subject.gpu.name}" if subject.entry is not None else subject.name


def described(subject: Subject, view: str = "") -> str:
    """The line below it: its origin, and the numbers set by hand, of a view or of all."""
    entry, changes = subject.entry, by_hand(subject, view)
    if entry is None:
        origin = "There is no kernel: sliders give every number"
    elif isinstance(entry, WorkloadResult):
        origin = f"As {entry.source} describes it"
    else:
        file = entry.program.source.rpartition("/")[2]
        program = msgspec.structs.replace(entry.program, source="pasted source" if file == "<input>" else file)
        origin = subline(msgspec.structs.replace(entry, program=program))
        return f"{origin}. {changes}" if changes else origin
    return f"{origin}. {changes}".strip()


def by_hand(subject: Subject, view: str = "") -> str:
    """The numbers set by hand, of a view or of all, each with its default value in brackets."""
    words = [change.words for change in subject.changes if view in (change.views if view else ("",))]
    return f"Set by hand: {'; '.join(words)}." if words else ""
