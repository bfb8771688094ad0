"""Access to the page: only the browser of this machine, only from the page itself.

A site elsewhere could send requests to 127.0.0.1, or let its own name point there; Host and Origin give both away.
"""

from typing import Any

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
FAILED = "The page could not answer this request."
LARGEST_REQUEST_B = 4 << 20  # an upload of a megabyte, in base64, with what goes with it


def refusal(host: str, origin: str | None, fetched_from: str | None, port: int) -> str:
    """Why a request is refused; "" where it is not. fetched_from : the browser's Sec-Fetch-Site."""
    hosts = {f"{name}:{port}" for name in LOOPBACK} | (set(LOOPBACK) if port == 80 else set())
    if host.lower() not in hosts:
        return "This page answers under 127.0.0.1 and localhost only."
    if origin is not None and origin.lower() not in {f"http://{name}" for name in hosts}:
        return "This page answers requests of its own only."
    if fetched_from not in (None, "same-origin", "none"):
        return "This page answers requests of its own only."
    return ""


def protect(server: Any, port: int, policy: str) -> None:
    """Check every request of a Flask application; bound its size; tell the browser what a page of ours may load.

    A failure is answered, and logged, in one sentence, so that foreign requests learn nothing about the code.
    """
    from flask import Response, request
    from werkzeug.exceptions import HTTPException

    server.config["MAX_CONTENT_LENGTH"] = LARGEST_REQUEST_B

    @server.before_request  # type: ignore[untyped-decorator]
    def check() -> Response | None:
        headers = request.headers
        reason = refusal(headers.get("Host", ""), headers.get("Origin"), headers.get("Sec-Fetch-Site"), port)
        return Response(reason, 403, mimetype="text/plain") if reason else None

    @server.errorhandler(Exception)  # type: ignore[untyped-decorator]
    def failed(error: Exception) -> Response:
        if isinstance(error, HTTPException):
            return Response(error.description, error.code, mimetype="text/plain")
        server.logger.error("%s failed: %s.", request.path, type(error).__name__)
        return Response(FAILED, 500, mimetype="text/plain")

    @server.after_request  # type: ignore[untyped-decorator]
    def seal(response: Response) -> Response:
        response.headers["Content-Security-Policy"] = policy
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "same-origin"
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        return response
