"""The page as a Dash application: callbacks parse a state, call the analysis service and show the answer."""

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from warpbound.kernel_launch import launch
from warpbound.page import export, further_page, kernel_sources, layout, slider_updates
from warpbound.page.access_guard import protect
from warpbound.page.analysis_service import AnalysisService
from warpbound.page.components import components
from warpbound.page.slider_table import section_json, sections
from warpbound.page.slider_updates import state_of
from warpbound.page.state import State, Texts, from_query
from warpbound.page.subject import Subject
from warpbound.page.views import REFUSED, VIEWS, second_picture, sentence
from warpbound.page.worker_pool import WorkerPool


def application(port: int, pool: WorkerPool, further: further_page.FurtherPage | None = None) -> Any:
    """The Dash application, guarded; the pool is closed by whoever made it. further : a page beside it."""
    from dash import Dash

    app = Dash(
        "warpbound", title="warpbound", update_title="", assets_folder=str(Path(__file__).parent / "assets"),
        serve_locally=True, suppress_callback_exceptions=True, compress=False, external_scripts=["/narrow.js"],
    )  # fmt: skip
    app.index_string = app.index_string.replace("<html>", '<html lang="en">')
    app.layout = partial(_page, further)
    service = AnalysisService(pool, Texts())
    slider_updates.serve(app.server, service)
    _scripts(app.server)
    if further is not None:
        further_page.serve(app.server, further)
    _question_callbacks(app, service)
    _answer_callbacks(app, service)
    export.exporting(app, service)
    _in_browser(app)
    scripts = " ".join(["'self'", *(f"'{word.strip(chr(39))}'" for word in app.csp_hashes())])
    protect(app.server, port, (
        f"default-src 'self'; script-src {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        "font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    ))  # fmt: skip
    return app


def _scripts(server: Any) -> None:
    """Plotly's script, as it is installed here, and what reports and the page share."""
    from importlib.resources import files

    from flask import Response

    from warpbound.report.html import narrow_script

    plotly = (files("plotly") / "package_data" / "plotly.min.js").read_bytes()
    for name, script in (("plotly.min.js", plotly), ("narrow.js", narrow_script().encode())):
        answer = partial(Response, script, mimetype="text/javascript", headers={"Cache-Control": "max-age=3600"})
        server.add_url_rule(f"/{name}", name, answer)


def _page(further: further_page.FurtherPage | None) -> Any:
    """The page filled from the address that the browser shows, which it names as the referrer of this request."""
    from flask import has_request_context, request

    query = urlsplit(request.referrer or "").query if has_request_context() else ""
    state = from_query(query)
    return layout.page(state, _example_launch(state.source), further.name if further else "")


# ---------------------------------------------------------------- the question


def _question_callbacks(app: Any, service: AnalysisService) -> None:
    from dash import Input, Output, ctx, no_update
    from dash import State as DashState

    fields = [DashState(name, "value") for name in (*layout.FIELDS, "args")]

    @app.callback(  # type: ignore[untyped-decorator]
        *(Output(name, "value") for name in (*layout.FIELDS, "args")),
        *(Output(name, "placeholder") for name in (*layout.FIELDS, "args")),
        Input("source", "value"),
        prevent_initial_call=True,
    )
    def another(source: str) -> Any:
        """A new source replaces the launch by its own."""
        examples = {name: example for name, (_, example) in layout.FIELDS.items()} | {"args": ""}
        own_launch = _example_launch(source)
        names = (*layout.FIELDS, "args")
        return *("" for _ in names), *(own_launch.get(name) or examples[name] for name in names)

    @app.callback(  # type: ignore[untyped-decorator]
        Output("pasted", "data"),
        Output("source", "value"),
        Output("problem", "children", allow_duplicate=True),
        Input("paste", "n_clicks"),
        Input("uploaded", "data"),
        DashState("code", "value"),
        prevent_initial_call=True,
    )
    def own_source(_: int | None, uploaded: str | None, code: str | None) -> Any:
        own = (uploaded if ctx.triggered_id == "uploaded" else code) or ""
        if not own.strip():
            return no_update, no_update, "There is no source yet: paste CUDA C++ into the field."
        return service.texts.source(own), layout.PASTED, ""

    @app.callback(  # type: ignore[untyped-decorator]
        Output("question", "data"),
        Input("source", "value"),
        Input("gpu", "value"),
        Input("analyse", "n_clicks"),
        Input("kernel", "value"),
        Input("pasted", "data"),
        DashState("written", "data"),
        *fields,
    )
    def ask(source: str, gpu: str, _: int, __: str, pasted: str | None, address: dict[str, Any], *words: str) -> Any:
        words_by_field = dict(zip((*layout.FIELDS, "args"), words, strict=True))
        only = ctx.triggered_id if len(ctx.triggered) == 1 else None
        fresh = {"source": "all", "pasted": "all", "gpu": "gpu"}.get(str(only), "")
        if only == "source":
            words_by_field = dict.fromkeys(words_by_field, "")
        own = pasted or (address or {}).get("pasted") or ""
        if source == layout.PASTED and not own:
            return no_update
        return {"source": own if source == layout.PASTED else source, "gpu": gpu, "fresh": fresh} | words_by_field


def _example_launch(source: str) -> dict[str, str]:
    """The launch of an example, in the form's notation."""
    kind, _, word = source.partition(":")
    if kind != "example" or word not in kernel_sources.examples():
        return {}
    own = launch(kernel_sources.example_file(word).with_suffix(".toml"))
    words = []
    for argument in own.args:
        shape = ",".join(str(n) for n in getattr(argument, "shape", None) or ())
        value = f"{argument.dtype}[{shape}]" if argument.kind == "array" else argument.value
        words.append(f"{argument.name}={value}")
    sizes = {"grid": own.grid, "block": own.block}
    return {name: ",".join(str(n) for n in size) for name, size in sizes.items()} | {
        "kernel": own.kernel or "", "smem": str(own.smem), "args": "\n".join(words),
    }  # fmt: skip


# ---------------------------------------------------------------- the answer


def _answer_callbacks(app: Any, service: AnalysisService) -> None:
    from dash import Input, Output
    from dash import State as DashState
    from dash.exceptions import PreventUpdate

    @app.callback(  # type: ignore[untyped-decorator]
        *(Output(name, "children") for name in ("title", "subline", "problem", "exact", "more")),
        Output("seen", "data"),
        Input("settled", "data"),
        DashState("question", "data"),
        DashState("view", "value"),
        prevent_initial_call=True,
    )
    def analyze(settled: dict[str, Any] | None, question: dict[str, Any] | None, view: str) -> Any:
        """The complete analysis: on loading, and when the sliders rest."""
        if not question or not settled:
            raise PreventUpdate
        canvas = slider_updates.Canvas(settled["theme"], float(settled["width"]))
        *texts, content = _exact(service, state_of(question, settled["values"], view), canvas)
        return *texts, content | {"number": settled["number"]}


def _exact(service: AnalysisService, state: State, canvas: slider_updates.Canvas) -> tuple[Any, ...]:
    """Title, subtitle, error, parts above and below the figures; words, figures, controls."""
    try:
        subject = service.analyze(state)
    except REFUSED as error:
        content: dict[str, Any] = {"words": [], "figures": [None, None], "lacking": export.NOTHING}
        content["numbers"] = _numbers(service, state)
        return "No answer", "", sentence(error), None, None, content
    values = dict(state.values)
    content = slider_updates.seen(state, subject, canvas) | {"numbers": _numbers(service, state)}
    content["lacking"] = export.unavailable_buttons(subject, state)
    content["figures"].append(slider_updates.drawing(second_picture(state.view, subject, values), canvas))
    about = VIEWS[state.view].about
    heading = (about, export.by_hand(subject, state.view)) if about else _titled(subject, state.view)
    return *heading, "", *_parts(state.view, subject), content


def _titled(subject: Subject, view: str) -> tuple[str, str]:
    return export.title(subject), export.described(subject, view)


def _numbers(service: AnalysisService, state: State) -> list[Any]:
    """The controls and their default values, for the reset buttons; nothing if these have no answer."""
    with suppress(*REFUSED):
        return [section_json(part) for part in sections(service.slider_defaults(state), state)]
    return []


def _parts(view: str, subject: Subject) -> tuple[Any, Any]:
    """The report's own parts: the first stands above the figures, the others below."""
    from dash import html

    from warpbound.report.html.elements import elements, sass_listing
    from warpbound.report.models import details
    from warpbound.report.text import VIEWS as PARTS
    from warpbound.result.workload import WorkloadResult

    entry = subject.entry
    if entry is None:
        return None, None
    if isinstance(entry, WorkloadResult):
        return (components(elements(details(entry))), None) if view == "verdict" else (None, None)
    if view == "sass":
        return components(sass_listing(entry)), None
    names = [name for name in VIEWS[view].exact if PARTS[name].has(entry)]
    parts = []
    for name in names:
        title = html.H3(PARTS[name].title, hidden=name == "verdict")
        parts.append(html.Section([title, *components(elements(PARTS[name].show(entry)))], id=f"part-{name}"))
    above = 2 if view == "verdict" else 0
    return parts[:above], parts[above:]


# ---------------------------------------------------------------- in the browser


def _in_browser(app: Any) -> None:
    """Callbacks that run in the browser: sliders, their numbers, request rate, address, pictures; see assets/."""
    from dash import ClientsideFunction, Input, Output
    from dash import State as DashState

    def runs(name: str, *parts: Any, **more: Any) -> None:
        app.clientside_callback(ClientsideFunction("warpbound", name), *parts, **more)

    question, view = Input("question", "data"), Input("view", "value")
    runs("rested", Output("settled", "data"), question, view, Input("theme", "data"), DashState("written", "data"))
    runs("answered", Output("drawn", "data"), Input("seen", "data"), prevent_initial_call=True)
    runs("theme", Output("theme", "data"), Input("title", "id"))
    runs("choose", Output("choose", "title"), Input("choose", "n_clicks"), prevent_initial_call=True)
    runs("picture", Output("as-png", "title"), Input("as-png", "n_clicks"), Input("as-svg", "n_clicks"))
