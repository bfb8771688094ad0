"""The page as a Dash application: callbacks only parse a state, ask, and show."""

import base64
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from warpbound.errors import WarpboundError
from warpbound.kernel_launch import launch
from warpbound.page import layout, sources
from warpbound.page.analysts import Analysts
from warpbound.page.components import annotated, shown
from warpbound.page.controls import of_gpu
from warpbound.page.guard import protect
from warpbound.page.state import State, Texts, from_query, to_query
from warpbound.page.subject import GPU, Desk, Subject
from warpbound.page.views import VIEWS, Drawn, drawn, second
from warpbound.report.figures import DARK, LIGHT, spec
from warpbound.report.figures.picture import Drawable
from warpbound.report.figures.theme import Theme

_WORDS = ("source", "gpu", "kernel", "grid", "block", "smem", "args")
THEMES = {"light": LIGHT, "dark": DARK}


def application(port: int, analysts: Analysts) -> Any:
    """The Dash application, guarded; `analysts` are closed by whoever made them."""
    from dash import Dash

    app = Dash(
        "warpbound", title="warpbound", update_title="", assets_folder=str(Path(__file__).parent / "assets"),
        serve_locally=True, suppress_callback_exceptions=True, compress=False,
    )  # fmt: skip
    app.index_string = app.index_string.replace("<html>", '<html lang="en">')
    app.layout = _page
    desk = Desk(analysts, Texts())
    _asking(app, desk)
    _answering(app, desk)
    _exporting(app, desk)
    _in_browser(app)
    scripts = " ".join(["'self'", *(f"'{word.strip(chr(39))}'" for word in app.csp_hashes())])
    protect(app.server, port, (
        f"default-src 'self'; script-src {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        "font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    ))  # fmt: skip
    return app


def _page() -> Any:
    """The page filled from the address that the browser shows, which it names as the referrer of this request."""
    from flask import has_request_context, request

    query = urlsplit(request.referrer or "").query if has_request_context() else ""
    state = from_query(query)
    return layout.page(state, _brought(state.source))


def state_of(question: dict[str, Any], values: dict[str, float] | None, view: str) -> State:
    """The state that the browser tells of."""
    own = tuple(sorted((str(key), float(value)) for key, value in (values or {}).items()))
    words = {name: str(question.get(name) or "") for name in _WORDS}
    return State(**words, view=view if view in VIEWS else "verdict", values=own)


# ---------------------------------------------------------------- the question


def _asking(app: Any, desk: Desk) -> None:
    from dash import Input, Output, ctx, no_update
    from dash import State as Held

    fields = [Held(name, "value") for name in (*layout.FIELDS, "args")]

    @app.callback(  # type: ignore[untyped-decorator]
        *(Output(name, "value") for name in (*layout.FIELDS, "args")),
        *(Output(name, "placeholder") for name in (*layout.FIELDS, "args")),
        Input("source", "value"),
        prevent_initial_call=True,
    )
    def another(source: str) -> Any:
        """Another source brings its own launch."""
        examples = {name: example for name, (_, example) in layout.FIELDS.items()} | {"args": ""}
        brought = _brought(source)
        names = (*layout.FIELDS, "args")
        return *("" for _ in names), *(brought.get(name) or examples[name] for name in names)

    @app.callback(  # type: ignore[untyped-decorator]
        Output("pasted", "data"),
        Output("source", "value"),
        Output("problem", "children", allow_duplicate=True),
        Input("paste", "n_clicks"),
        Input("upload", "contents"),
        Held("code", "value"),
        prevent_initial_call=True,
    )
    def own_source(_: int | None, contents: str | None, code: str | None) -> Any:
        if ctx.triggered_id == "upload":
            code = base64.b64decode((contents or ",").partition(",")[2])[: 1 << 20].decode("utf-8", "replace")
        if not code:
            return no_update, no_update, "There is no source yet: paste CUDA C++ into the field."
        return desk.texts.source(code), layout.PASTED, ""

    @app.callback(  # type: ignore[untyped-decorator]
        Output("question", "data"),
        Input("source", "value"),
        Input("gpu", "value"),
        Input("analyse", "n_clicks"),
        Input("kernel", "value"),
        Input("pasted", "data"),
        Held("written", "data"),
        *fields,
    )
    def ask(source: str, gpu: str, _: int, __: str, pasted: str | None, written: dict[str, Any], *words: str) -> Any:
        named = dict(zip((*layout.FIELDS, "args"), words, strict=True))
        only = ctx.triggered_id if len(ctx.triggered) == 1 else None
        fresh = {"source": "all", "pasted": "all", "gpu": "gpu"}.get(str(only), "")
        if only == "source":
            named = dict.fromkeys(named, "")
        own = pasted or (written or {}).get("pasted") or ""
        if source == layout.PASTED and not own:
            return no_update
        return {"source": own if source == layout.PASTED else source, "gpu": gpu, "fresh": fresh} | named


def _brought(source: str) -> dict[str, str]:
    """The launch of an example, as one would write it."""
    kind, _, word = source.partition(":")
    if kind != "example" or word not in sources.examples():
        return {}
    own = launch(sources.example_file(word).with_suffix(".toml"))
    said = []
    for one in own.args:
        shape = ",".join(str(n) for n in getattr(one, "shape", None) or ())
        said.append(f"{one.name}={one.dtype}[{shape}]" if one.kind == "array" else f"{one.name}={one.value}")
    sizes = {"grid": own.grid, "block": own.block}
    return {name: ",".join(str(n) for n in size) for name, size in sizes.items()} | {
        "kernel": own.kernel or "", "smem": str(own.smem), "args": "\n".join(said),
    }  # fmt: skip


# ---------------------------------------------------------------- the answer


def _answering(app: Any, desk: Desk) -> None:
    from dash import Input, Output, ctx
    from dash import State as Held
    from dash.exceptions import PreventUpdate

    first, further = ([(f"{part}-{n}", key) for part, key in _PLACES] for n in layout.GRAPHS)
    moving = [Output("words", "children"), *(Output(*place) for place in first)]
    again = [Output("words", "children", allow_duplicate=True)]
    again += [Output(*place, allow_duplicate=True) for place in first]

    @app.callback(  # type: ignore[untyped-decorator]
        *moving,
        Output("drawn", "data"),
        Input("live", "data"),
        Input("theme", "data"),
        Held("question", "data"),
        Held("view", "value"),
        prevent_initial_call=True,
    )
    def quickly(live: dict[str, Any] | None, theme: str, question: dict[str, Any] | None, view: str) -> Any:
        """While a slider moves: from what was analysed already."""
        if not question or not live:
            raise PreventUpdate
        return *_quick(desk, state_of(question, live["values"], view), theme), live["number"]

    @app.callback(  # type: ignore[untyped-decorator]
        *(Output(name, "children") for name in ("title", "subline", "problem", "exact", "more")),
        *again,
        *(Output(*place) for place in further),
        Input("settled", "data"),
        Held("question", "data"),
        Held("view", "value"),
        Held("theme", "data"),
        prevent_initial_call=True,
    )
    def exactly(settled: dict[str, Any] | None, question: dict[str, Any] | None, view: str, theme: str) -> Any:
        """At first, and when the sliders rest: the whole analysis."""
        if not question or not settled:
            raise PreventUpdate
        return _exact(desk, state_of(question, settled["values"], view), theme)

    @app.callback(  # type: ignore[untyped-decorator]
        Output("controls", "children"),
        Input("question", "data"),
        Input("view", "value"),
        Held("written", "data"),
        Held("live", "data"),
        prevent_initial_call=True,
    )
    def sliders(
        question: dict[str, Any] | None, view: str, written: dict[str, Any], live: dict[str, Any] | None
    ) -> Any:
        """The numbers of a view; those set by hand stay where they are."""
        if not question:
            return None
        values = dict((live or written)["values"])
        if live and "question.data" in ctx.triggered_prop_ids and question["fresh"]:
            dropped = "" if question["fresh"] == "all" else GPU
            values = {key: value for key, value in values.items() if not key.startswith(dropped)}
        return _controls(desk, state_of(question, {}, view), values)


_PLACES = (("graph", "figure"), ("caption", "children"), ("figure", "hidden"))


def _quick(desk: Desk, state: State, theme: str) -> tuple[Any, ...]:
    """Words and the first figure."""
    try:
        seen = drawn(state.view, desk.quickly(state), dict(state.values))
    except WarpboundError as error:
        seen = Drawn(words=(str(error),))
    return _words(seen), *_shown(seen.picture, THEMES.get(theme, LIGHT))


def _exact(desk: Desk, state: State, theme: str) -> tuple[Any, ...]:
    try:
        subject = desk.exactly(state)
    except WarpboundError as error:
        return "No answer", "", str(error), None, None, [], *_shown(None, LIGHT), *_shown(None, LIGHT)
    values, paper = dict(state.values), THEMES.get(theme, LIGHT)
    seen, further = drawn(state.view, subject, values), second(state.view, subject, values)
    about = VIEWS[state.view].about
    said = (about, "") if about else (_title(subject), _subline(subject))
    words = (*said, "", *_parts(state.view, subject), _words(seen))
    return *words, *_shown(seen.picture, paper), *_shown(further, paper)


def _controls(desk: Desk, state: State, values: dict[str, float]) -> Any:
    try:
        subject = desk.exactly(state)
    except WarpboundError:
        return None
    view = VIEWS[state.view]
    board = of_gpu(subject.gpu) if view.gpu and subject.entry is not None else []
    return layout.controls(view.controls(subject), board, values)


def _words(seen: Drawn) -> list[Any]:
    from dash import html

    return [html.P(word) for word in seen.words]


def _shown(picture: Drawable | None, theme: Theme) -> tuple[Any, Any, bool]:
    """Figure, caption, whether its place stays empty."""
    from dash import html

    if picture is None:
        return {}, "", True
    figure = spec(picture, theme)
    figure["layout"] |= {"uirevision": picture.title, "autosize": True}
    source = html.Span(f" Source: {picture.source}.", className="dim")
    return figure, [html.B(f"{picture.title}. "), picture.caption, source], False


def _title(subject: Subject) -> str:
    return f"{subject.name} on {subject.gpu.name}" if subject.entry is not None else subject.name


def _subline(subject: Subject) -> str:
    from warpbound.report.text import subline

    entry = subject.entry
    if entry is None:
        return "Volkov's mix of memory accesses and adds; every number is a slider."
    if entry["mode"] == "written":
        return f"As {entry['source']} describes it."
    program = entry["program"]
    file = program["source"].rpartition("/")[2]
    return subline(entry | {"program": program | {"source": "pasted source" if file == "<input>" else file}})


def _parts(view: str, subject: Subject) -> tuple[Any, Any]:
    """The report's own parts: the first stands above the figures, the others below."""
    from dash import html

    from warpbound.report.models import pages
    from warpbound.report.text import VIEWS as PARTS

    entry = subject.entry
    if entry is None:
        return None, None
    if entry["mode"] == "written":
        return ([one for part in pages([entry]) for one in shown(part)], None) if view == "verdict" else (None, None)
    if view == "sass":
        return annotated(entry), None
    there = [name for name in VIEWS[view].exact if PARTS[name].has(entry)]
    made = []
    for name in there:
        title = html.H3(PARTS[name].title, hidden=name == "verdict")
        made.append(html.Section([title, *shown(PARTS[name].show(entry))], id=f"part-{name}"))
    above = 2 if view == "verdict" else 0
    return made[:above], made[above:]


# ---------------------------------------------------------------- taking it along


def _exporting(app: Any, desk: Desk) -> None:
    from dash import Input, Output, ctx, dcc, no_update
    from dash import State as Held

    @app.callback(  # type: ignore[untyped-decorator]
        Output("download", "data"),
        Output("problem", "children", allow_duplicate=True),
        Input("as-json", "n_clicks"),
        Input("as-html", "n_clicks"),
        Held("settled", "data"),
        Held("question", "data"),
        Held("view", "value"),
        prevent_initial_call=True,
    )
    def take(_: Any, __: Any, settled: dict[str, Any] | None, question: dict[str, Any] | None, view: str) -> Any:
        state = state_of(question or {}, (settled or {}).get("values"), view)
        try:
            return _file(str(ctx.triggered_id), desk.exactly(state), state, dcc), ""
        except WarpboundError as error:
            return no_update, str(error)


def _file(kind: str, subject: Subject, state: State, dcc: Any) -> Any:
    from warpbound.report import html
    from warpbound.report.document import as_json, document

    if subject.entry is None:
        raise WarpboundError("Sliders alone have no analysis to take along.", "Take the picture, or the address.")
    asked = f"warpbound page ?{to_query(replace(state, source=state.source[:80]))}"
    if kind == "as-json":
        return dcc.send_string(as_json(document(asked, [subject.entry])), "warpbound.json")
    if subject.entry["mode"] == "written":
        raise WarpboundError("A workload has no report file.", "Take the JSON.")
    return dcc.send_string(html.page([subject.entry], asked), "warpbound.html")


# ---------------------------------------------------------------- in the browser


def _in_browser(app: Any) -> None:
    """What needs no server: sliders and their numbers, how often is asked, the address, pictures; assets/page.js."""
    from dash import ALL, MATCH, ClientsideFunction, Input, Output
    from dash import State as Held

    def runs(name: str, *parts: Any, **more: Any) -> None:
        app.clientside_callback(ClientsideFunction("warpbound", name), *parts, **more)

    slider, number = {"kind": "slider", "key": MATCH}, {"kind": "value", "key": MATCH}
    runs(
        "together",
        Output(slider, "value"),
        Output(number, "value"),
        Input(slider, "value"),
        Input(number, "value"),
        prevent_initial_call=True,
    )
    every: Sequence[Any] = (Input({"kind": "value", "key": ALL}, "value"), Held({"kind": "value", "key": ALL}, "id"))
    runs("moved", Output("live", "data"), *every, Held("live", "data"), Held("written", "data"))
    runs(
        "rested",
        Output("settled", "data"),
        Input("drawn", "data"),
        Input("question", "data"),
        Input("view", "value"),
        Held("written", "data"),
    )
    runs("theme", Output("theme", "data"), Input("title", "id"))
    shown_by = (Input("question", "data"), Input("view", "value"), Input("live", "data"))
    runs("address", Output("sharing", "title"), *shown_by)
    runs("picture", Output("as-png", "title"), Input("as-png", "n_clicks"), Input("as-svg", "n_clicks"))
    runs("reset", Output("reset", "title"), Input("reset", "n_clicks"), prevent_initial_call=True)
