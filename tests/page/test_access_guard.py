"""Requests of other sites, and of names that were made to point at this machine, are refused."""

from typing import Any

import pytest

from warpbound.page.access_guard import FAILED, LARGEST_REQUEST_B, refusal

OWN = "127.0.0.1:8050"


@pytest.mark.parametrize("host", [OWN, "localhost:8050", "LOCALHOST:8050", "[::1]:8050"])
def test_own_hosts(host: str) -> None:
    assert refusal(host, None, None, 8050) == ""
    assert refusal(host, "http://127.0.0.1:8050", "same-origin", 8050) == ""
    assert refusal(host, None, "none", 8050) == ""


@pytest.mark.parametrize(
    "host", ["", "evil.example:8050", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8050.evil.example", "localhost:9000"]
)
def test_other_hosts(host: str) -> None:
    assert "127.0.0.1" in refusal(host, None, None, 8050)


@pytest.mark.parametrize("origin", ["null", "", "http://evil.example", "https://127.0.0.1:8050", "http://localhost:1"])
def test_other_origins(origin: str) -> None:
    assert refusal(OWN, origin, None, 8050)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_fetched_from_elsewhere(site: str) -> None:
    assert refusal(OWN, None, site, 8050)


@pytest.fixture(scope="module")
def client() -> Any:
    pytest.importorskip("dash")
    from warpbound.page.app import application
    from warpbound.page.worker_pool import WorkerPool

    return application(8050, WorkerPool()).server.test_client()


@pytest.mark.parametrize("path", ["/", "/_dash-layout", "/_dash-dependencies", "/assets/page.js", "/plotly.min.js"])
def test_every_path_is_guarded(client: Any, path: str) -> None:
    assert client.get(path, headers={"Host": OWN}).status_code == 200
    assert client.get(path, headers={"Host": "evil.example"}).status_code == 403
    assert client.get(path, headers={"Host": OWN, "Origin": "http://evil.example"}).status_code == 403


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"output": "x"}'])
def test_what_is_no_request_of_the_page_is_answered_in_a_sentence(
    client: Any, body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the browser nor the terminal shows a traceback."""
    answer = client.post("/_dash-update-component", data=body, headers={"Host": OWN}, content_type="application/json")
    assert answer.status_code in (400, 500)
    assert answer.mimetype == "text/plain"
    assert len(answer.text.splitlines()) == 1
    assert "Traceback" not in caplog.text
    other = client.get("/_dash-component-suites/os/os.py", headers={"Host": OWN})
    assert (other.status_code, other.text) == (500, FAILED)
    assert "Content-Security-Policy" in other.headers


def test_what_a_page_may_load(client: Any) -> None:
    headers = client.get("/", headers={"Host": OWN}).headers
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    assert "http" not in headers["Content-Security-Policy"]
    scripts = headers["Content-Security-Policy"].split("script-src ")[1].split(";")[0]
    assert "unsafe" not in scripts
    assert "Access-Control-Allow-Origin" not in headers


QUESTION = (
    b'{"question": {"source": "bare", "gpu": "h200"}, "view": "hiding", "values": {"mix.warps": 20}, "canvas": {}}'
)


def test_what_a_slider_asks_is_guarded_too(client: Any) -> None:
    own = {"Host": OWN, "Origin": f"http://{OWN}", "Sec-Fetch-Site": "same-origin"}
    answer = client.post("/live", data=QUESTION, headers=own)
    assert answer.status_code == 200
    assert answer.json["words"][0].startswith("Latency binds at 20 warps")
    for other in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert client.post("/live", data=QUESTION, headers=own | other).status_code == 403
    assert client.post("/live", data=b" " * (LARGEST_REQUEST_B + 1), headers=own).status_code == 413
    assert client.get("/live", headers=own).status_code != 500


@pytest.mark.parametrize("body", [b"", b"{}", b"[1]", b"\xff", QUESTION.replace(b"20", b'"20"'), QUESTION[:-3]])
def test_what_is_no_question_is_refused(client: Any, body: bytes) -> None:
    assert client.post("/live", data=body, headers={"Host": OWN}).status_code == 400


@pytest.mark.parametrize(
    "changed",
    ["example:../saxpy", "paper:/etc/passwd", "text:x", "here:0", "file:///etc/passwd", "", "bare@/etc/passwd"],
)
def test_addresses_name_no_file(client: Any, changed: str) -> None:
    source, _, board = changed.partition("@")
    named = f'"source": "{source}", "gpu": "{board or "h200"}"'.encode()
    asked = QUESTION.replace(b'"source": "bare", "gpu": "h200"', named)
    answer = client.post("/live", data=asked, headers={"Host": OWN})
    assert answer.status_code == 200
    assert answer.json["figures"] == [None]
    assert "root" not in answer.json["words"][0]
    assert len(answer.json["words"]) == 1


def test_large_requests_are_refused(client: Any) -> None:
    body = b" " * (LARGEST_REQUEST_B + 1)
    said = client.post("/_dash-update-component", data=body, headers={"Host": OWN, "Content-Type": "application/json"})
    assert said.status_code == 413
