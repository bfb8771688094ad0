"""Layout of the page: the form at the top, the views below it, sliders beside the figures."""

from typing import Any

from dash import dcc, html

from warpbound import machine
from warpbound.page import kernel_sources
from warpbound.page.pasted_source import LARGEST
from warpbound.page.state import State
from warpbound.page.views import VIEWS

FIELDS = {  # fields of a launch: name -> label, example
    "kernel": ("Kernel", "the only one"),
    "grid": ("Grid", "64,64"),
    "block": ("Block", "256"),
    "smem": ("Dynamic shared memory, B", "0"),
}
PASTED = "pasted"
TEXTS = ("text", "here")  # kinds of sources that the list does not contain
LONGEST_NAME = 60  # characters shown of an unknown value in an address
ACCEPTED = ".cu,.cuh,.ptx,.sass,.txt"
GRAPHS = (1, 2)
EXPORTS = {"as-png": "PNG", "as-svg": "SVG", "as-json": "JSON", "as-html": "Report"}  # buttons; drawing.js names them
NOT_YET = "No analysis yet."


def page(state: State, own_launch: dict[str, str], further: str = "") -> Any:
    """The whole page for a state. own_launch : the launch that comes with the source. further : a page beside it."""
    link = [html.A(further.capitalize(), href=f"/{further}")] if further else []
    pasted = state.source if state.source.partition(":")[0] in TEXTS else ""
    return html.Div(
        [
            *(dcc.Store(id=name) for name in ("question", "settled", "seen", "drawn", "theme", "pasted", "uploaded")),
            dcc.Store(id="written", data={"values": dict(state.values), "pasted": pasted}),
            dcc.Download(id="download"),
            html.Header([html.H1("warpbound"), html.P("What bounds a GPU kernel, and what would change it."), *link]),
            html.Main([form_fields(state, own_launch), _answer()]),
        ]
    )


def form_fields(state: State, own_launch: dict[str, str]) -> Any:
    """The form's fields; `own_launch` is the placeholder of empty ones."""
    source = PASTED if state.source.partition(":")[0] in TEXTS else state.source
    selection = [
        _labelled("source", "Kernel or workload", _choice("source", _kernels(), source)),
        _labelled("gpu", "GPU", _choice("gpu", _boards(), state.gpu)),
    ]
    views = dcc.RadioItems(
        id="view",
        options=[{"label": view.title, "value": name} for name, view in VIEWS.items()],
        value=state.view if state.view in VIEWS else "verdict",
        className="views",
        inline=True,
    )
    parts = [html.Div(selection, className="row"), _launch(state, own_launch, source), _own(source), views]
    return html.Div(parts, id="question-fields")


def _launch(state: State, own_launch: dict[str, str], source: str) -> Any:
    fields = [
        _labelled(name, label, _text(name, getattr(state, name), own_launch.get(name) or example))
        for name, (label, example) in FIELDS.items()
    ]
    return html.Details(
        [
            html.Summary("Launch"),
            html.Div(fields, className="row"),
            html.Label("Arguments, one per line", htmlFor="args"),
            dcc.Textarea(id="args", value=state.args, placeholder=own_launch.get("args") or _ARGUMENTS, rows=3),
            html.P("Empty fields take the value of the example's launch file.", className="dim"),
            html.Button("Analyse this launch", id="analyse"),
        ],
        open=source == PASTED,
    )


def _own(source: str) -> Any:
    buttons = [
        html.Button("Analyse this source", id="paste"),
        html.Button("Upload a file", id="choose", **_TAKEN),
    ]
    return html.Details(
        [
            html.Summary("Your own CUDA"),
            html.Label("Source of the kernel", htmlFor="code"),
            dcc.Textarea(id="code", placeholder=_CODE, rows=10, spellCheck=False),
            html.Div(buttons, className="row"),
            html.P(
                "A separate process compiles the source; no GPU runs it. Limit: 1 MB, the compiler's headers only.",
                className="dim",
            ),
        ],
        open=source == PASTED,
    )


_TAKEN: Any = {"data-accept": ACCEPTED, "data-largest": str(LARGEST)}
_SPOKEN: Any = {"aria-live": "polite"}
_NAMED: Any = {"aria-label": "Numbers to set"}
_REASONED: Any = {"aria-describedby": "lacking"}
_ARGUMENTS = "n=1048576\nx=f32[1048576]:randn"
_CODE = "__global__ void scale(float *x, float a, int n) { ... }"


def _answer() -> Any:
    """The area of the answer; the browser fills words, graphs, captions and controls."""
    graphs = [
        html.Figure(
            [html.Div(html.Div(id=f"graph-{n}"), className="plot"), html.Figcaption(id=f"caption-{n}")],
            id=f"figure-{n}",
            hidden=True,
        )
        for n in GRAPHS
    ]
    return html.Div(
        [
            html.P(id="problem", role="alert"),
            html.Div(
                [
                    html.Section(
                        [
                            html.H2(id="title"),
                            html.P(id="subline", className="dim"),
                            html.Div(id="words", **_SPOKEN),
                            dcc.Loading(html.Div(id="exact"), delay_show=400, type="dot"),
                            *graphs,
                            html.Div(id="more"),
                        ],
                        className="shown",
                    ),
                    html.Aside(
                        [_exports(), html.Div(id="controls")],
                        className="controls",
                        **_NAMED,
                    ),
                ],
                className="columns",
            ),
        ]
    )


def _exports() -> Any:
    return html.Div(
        [
            html.H3("Download"),
            html.Div(
                [
                    html.Button(words, id=name, disabled=True, title=NOT_YET, **_REASONED)
                    for name, words in EXPORTS.items()
                ],
                className="row",
            ),
            html.P(NOT_YET, id="lacking", className="dim"),
            html.P("To share this view, send its address.", className="dim"),
            html.P(id="sharing", className="dim"),
        ]
    )


def _labelled(name: str, label: str, field: Any) -> Any:
    return html.Div([html.Label(label, htmlFor=name, id=f"label-{name}"), field], className="field")


def _text(name: str, value: str, placeholder: str) -> Any:
    return dcc.Input(id=name, type="text", value=value, placeholder=placeholder, debounce=True)


def _choice(name: str, options: list[dict[str, str]], value: str) -> Any:
    """A drop-down list; an unknown value from the address is added, so that the error can name it."""
    listed_already = any(option["value"] == value for option in options)
    unlisted = [] if listed_already else [{"label": value[:LONGEST_NAME] or "-", "value": value}]
    return dcc.Dropdown(id=name, options=[*unlisted, *options], value=value, clearable=False)


def _kernels() -> list[dict[str, str]]:
    options = [{"label": f"{name}.cu", "value": f"example:{name}"} for name in kernel_sources.examples()]
    options.append({"label": "Your own CUDA", "value": PASTED})
    options.append({"label": "Sliders alone (Volkov's mix)", "value": "bare"})
    for name in kernel_sources.papers():
        options.append({"label": f"Paper: {kernel_sources.paper(name).name}", "value": f"paper:{name}"})
    return options


def _boards() -> list[dict[str, str]]:
    boards = [machine.gpu(key) for key in machine.catalogue()]
    order = sorted(boards, key=lambda board: (-board.arch, board.name))
    return [{"label": board.name, "value": board.key} for board in order]
