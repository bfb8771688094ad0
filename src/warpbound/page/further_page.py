"""A page beside the one of kernels, made by whoever starts the server: the results of a sweep."""

from collections.abc import Callable, Mapping
from typing import Any

from warpbound.errors import WarpboundError
from warpbound.quick_dataclasses import dataclass


@dataclass(frozen=True)
class FurtherPage:
    """name : of its address and of the link to it. html : the page for the words of its form. script : its own."""

    name: str
    html: Callable[[Mapping[str, str]], str]
    script: str = ""


def serve(server: Any, page: FurtherPage) -> None:
    """Answer /NAME and /NAME.js in a Flask application; what cannot be answered is one sentence."""
    from flask import Response, request

    def answer() -> Response:
        try:
            return Response(page.html(request.args), mimetype="text/html")
        except WarpboundError as problem:
            return Response(str(problem), 404, mimetype="text/plain")

    server.add_url_rule(f"/{page.name}", page.name, answer)
    script = Response(page.script, mimetype="text/javascript")
    server.add_url_rule(f"/{page.name}.js", f"{page.name}.js", lambda: script)
