"""HTTP server of the page, bound to this machine, until interrupted."""

from collections.abc import Callable

from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from warpbound.page.app import application
from warpbound.page.further_page import FurtherPage
from warpbound.page.worker_pool import WorkerPool


class _Quiet(WSGIRequestHandler):
    """Request handler without a log, with persistent connections: a slider sends thirty requests a second."""

    protocol_version = "HTTP/1.1"

    def log(self, type: str, message: str, *args: object) -> None:
        """Nothing."""


def server(port: int, pool: WorkerPool, further: FurtherPage | None = None) -> BaseWSGIServer:
    """Bound to 127.0.0.1 and not yet serving; port 0 takes a free one. Raises OSError where the port is taken."""
    import socket

    with socket.socket() as trial:  # werkzeug would end the process
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        trial.bind(("127.0.0.1", port))
        port = trial.getsockname()[1]
    app = application(port, pool, further)
    return make_server("127.0.0.1", port, app.server, threaded=True, request_handler=_Quiet)


def serve(port: int, announce: Callable[[str], None], further: FurtherPage | None = None) -> None:
    """Serve until interrupted; `announce` gets the address. Raises OSError where the port is taken."""
    pool = WorkerPool()
    try:
        listening = server(port, pool, further)
        announce(f"http://127.0.0.1:{listening.port}/")
        listening.serve_forever()
    finally:
        pool.close()
