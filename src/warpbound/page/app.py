"""The page as a Dash application: callbacks only parse a state, ask, and show."""

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from warpbound.kernel_launch import launch
from warpbound.page import export, kernel_sources, layout, slider_updates
from warpbound.page.access_guard import protect
from warpbound.page.analysis_service import Desk
from warpbound.page.components import components
from warpbound.page.slider_table import sections, told
from warpbound.page.slider_updates import state_of
from warpbound.page.state import State, Texts, from_query
from warpbound.page.subject import Subject
from warpbound.page.views import REFUSED, VIEWS, second, sentence
from warpbound.page.worker_pool import Analysts


def application(port: int, analysts: Analysts) -> Any:
    """The Dash application, guarded; `analysts` are closed by whoever made them."""
    from dash import Dash

    app = Dash(
        "warpbound", title="warpbound", update_title="", assets_folder=str(Path(__file__).parent / "assets"),
        serve_locally=True, suppress_callback_exceptions=True, compress=False, external_scripts=["/narrow.js"],
    )  # fmt: skip
    app.index_string = app.index_string.replace("<html>", '<html lang="en">')
    app.layout = _page
    desk = Desk(analysts, Texts())
    slider_updates.serve(app.server, desk)
    _scripts(app.server)
    _asking(app, desk)
    _answering(app, desk)
    export.exporting(app, desk)
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


def _page() -> Any:
    """The page filled from the address that the browser shows, which it names as the referrer of this request."""
    from flask import has_request_context, request

    query = urlsplit(request.referrer or "").query if has_request_context() else ""
    state = from_query(query)
    return layout.page(state, _brought(state.source))


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
        Input("uploaded", "data"),
        Held("code", "value"),
        prevent_initial_call=True,
    )
    def own_source(_: int | None, uploaded: str | None, code: str | None) -> Any:
        own = (uploaded if ctx.triggered_id == "uploaded" else code) or ""
        if not own.strip():
            return no_update, no_update, "There is no source yet: paste CUDA C++ into the field."
        return desk.texts.source(own), layout.PASTED, ""

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
    if kind != "example" or word not in kernel_sources.examples():
        return {}
    own = launch(kernel_sources.example_file(word).with_suffix(".toml"))
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
    from dash import Input, Output
    from dash import State as Held
    from dash.exceptions import PreventUpdate

    @app.callback(  # type: ignore[untyped-decorator]
        *(Output(name, "children") for name in ("title", "subline", "problem", "exact", "more")),
        Output("seen", "data"),
        Input("settled", "data"),
        Held("question", "data"),
        Held("view", "value"),
        prevent_initial_call=True,
    )
    def exactly(settled: dict[str, Any] | None, question: dict[str, Any] | None, view: str) -> Any:
        """At first, and when the sliders rest: the whole analysis."""
        if not question or not settled:
            raise PreventUpdate
        paper = slider_updates.Paper(settled["theme"], float(settled["width"]))
        *said, seen = _exact(desk, state_of(question, settled["values"], view), paper)
        return *said, seen | {"number": settled["number"]}


def _exact(desk: Desk, state: State, paper: slider_updates.Paper) -> tuple[Any, ...]:
    """Title, line below it, what went wrong, parts above and below the figures; words, figures, numbers to set."""
    try:
        subject = desk.exactly(state)
    except REFUSED as error:
        seen: dict[str, Any] = {"words": [], "figures": [None, None], "lacking": export.NOTHING}
        seen["numbers"] = _numbers(desk, state)
        return "No answer", "", sentence(error), None, None, seen
    values = dict(state.values)
    seen = slider_updates.seen(state, subject, paper) | {"numbers": _numbers(desk, state)}
    seen["lacking"] = export.lacking(subject, state)
    seen["figures"].append(slider_updates.drawing(second(state.view, subject, values), paper))
    about = VIEWS[state.view].about
    said = (about, export.by_hand(subject, state.view)) if about else _titled(subject, state.view)
    return *said, "", *_parts(state.view, subject), seen


def _titled(subject: Subject, view: str) -> tuple[str, str]:
    return export.title(subject), export.described(subject, view)


def _numbers(desk: Desk, state: State) -> list[Any]:
    """What can be set, and where it stands unless it is, so that one can go back; nothing where that has no answer."""
    with suppress(*REFUSED):
        return [told(part) for part in sections(desk.standing(state), state)]
    return []


def _parts(view: str, subject: Subject) -> tuple[Any, Any]:
    """The report's own parts: the first stands above the figures, the others below."""
    from dash import html

    from warpbound.report.html.elements import elements, sass_listing
    from warpbound.report.models import details
    from warpbound.report.text import VIEWS as PARTS

    entry = subject.entry
    if entry is None:
        return None, None
    if entry["mode"] == "written":
        return (components(elements(details(entry))), None) if view == "verdict" else (None, None)
    if view == "sass":
        return components(sass_listing(entry)), None
    there = [name for name in VIEWS[view].exact if PARTS[name].has(entry)]
    made = []
    for name in there:
        title = html.H3(PARTS[name].title, hidden=name == "verdict")
        made.append(html.Section([title, *components(elements(PARTS[name].show(entry)))], id=f"part-{name}"))
    above = 2 if view == "verdict" else 0
    return made[:above], made[above:]


# ---------------------------------------------------------------- in the browser


def _in_browser(app: Any) -> None:
    """What needs no server: sliders and their numbers, how often is asked, the address, pictures; assets/."""
    from dash import ClientsideFunction, Input, Output
    from dash import State as Held

    def runs(name: str, *parts: Any, **more: Any) -> None:
        app.clientside_callback(ClientsideFunction("warpbound", name), *parts, **more)

    question, view = Input("question", "data"), Input("view", "value")
    runs("rested", Output("settled", "data"), question, view, Input("theme", "data"), Held("written", "data"))
    runs("answered", Output("drawn", "data"), Input("seen", "data"), prevent_initial_call=True)
    runs("theme", Output("theme", "data"), Input("title", "id"))
    runs("choose", Output("choose", "title"), Input("choose", "n_clicks"), prevent_initial_call=True)
    runs("picture", Output("as-png", "title"), Input("as-png", "n_clicks"), Input("as-svg", "n_clicks"))
