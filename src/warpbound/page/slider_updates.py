"""Words and the first figure as JSON while a slider moves; bypasses Dash, which would be slower.

The whole analysis brings words and figures in the same form, so that the browser draws both in one way.
"""

from dataclasses import replace
from typing import Any

import msgspec

from warpbound.page.analysis_service import AnalysisService
from warpbound.page.state import State
from warpbound.page.subject import Subject
from warpbound.page.views import REFUSED, VIEWS, ViewOutput, draw_view, sentence
from warpbound.report.figures import DARK, LIGHT, spec
from warpbound.report.figures.picture import Drawable, Panels, narrowed

THEMES = {"light": LIGHT, "dark": DARK}
_WORDS = ("source", "gpu", "kernel", "grid", "block", "smem", "args")
NARROW_PX = 530.0  # wider figures are drawn for wide screens; page.js requests them anew there
PANEL_PX = 260.0  # least width of each of several plots beside each other


class Canvas(msgspec.Struct, frozen=True):
    """The area that a figure is drawn for. theme : light or dark; width : pixels."""

    theme: str = "light"
    width: float = 1000.0


class LiveRequest(msgspec.Struct):
    """A request of the browser: the question's fields, the view, every number set by hand, the size to draw for."""

    question: dict[str, Any]
    view: str
    values: dict[str, float]
    canvas: Canvas


def state_of(question: dict[str, Any], values: dict[str, float] | None, view: str) -> State:
    """The state that a request of the browser describes."""
    own = tuple(sorted((str(key), float(value)) for key, value in (values or {}).items()))
    words = {name: str(question.get(name) or "") for name in _WORDS}
    return State(**words, view=view if view in VIEWS else "verdict", values=own)


def answer(service: AnalysisService, request: LiveRequest) -> dict[str, Any]:
    """Words and figure estimated from an earlier analysis; a sentence where there is no answer."""
    state = state_of(request.question, request.values, request.view)
    try:
        return seen(state, service.estimate(state), request.canvas)
    except REFUSED as error:
        return _as_json(ViewOutput(words=(sentence(error),)), request.canvas)


def seen(state: State, subject: Subject, canvas: Canvas) -> dict[str, Any]:
    """words : sentences above the first figure; figures : that figure, None where there is none. waits : whether the
    whole answer takes so long that its progress is shown."""
    return _as_json(draw_view(state.view, subject, dict(state.values)), canvas) | {"waits": subject.waits}


def _as_json(output: ViewOutput, canvas: Canvas) -> dict[str, Any]:
    return {"words": list(output.words), "figures": [drawing(output.picture, canvas)]}


def drawing(picture: Drawable | None, canvas: Canvas) -> dict[str, Any] | None:
    """A figure with its caption, in the reader's colours."""
    if picture is None:
        return None
    if canvas.width < NARROW_PX:
        picture = narrowed(picture)
    words = {"title": picture.title, "caption": picture.caption, "source": picture.source}
    if isinstance(picture, Panels):
        picture = replace(picture, columns=int(max(1, min(picture.columns, canvas.width // PANEL_PX))))
    figure = spec(picture, THEMES.get(canvas.theme, LIGHT))
    figure["layout"] |= {"uirevision": picture.title, "autosize": True}
    return words | figure


def serve(server: Any, service: AnalysisService) -> None:
    """Answer POST /live of a Flask application."""
    from flask import Response, request

    @server.post("/live")  # type: ignore[untyped-decorator]
    def live() -> Response:
        try:
            live_request = msgspec.json.decode(request.get_data(), type=LiveRequest)
        except msgspec.DecodeError:
            return Response("The page does not know this request.", 400, mimetype="text/plain")
        return Response(msgspec.json.encode(answer(service, live_request)), mimetype="application/json")
