"""The limit on the processor time of a block of code."""

import signal
import time
from threading import Thread

import pytest

from warpbound.errors import InputError
from warpbound.processor_limit import processor_limit
from warpbound.program import host_code


def spin(seconds: float) -> None:
    ends = time.process_time() + seconds
    while time.process_time() < ends:
        sum(range(100))


def test_a_block_that_takes_too_long_is_stopped_and_another_goes_on() -> None:
    before = signal.getsignal(signal.SIGVTALRM)
    with pytest.raises(InputError, match="too long"), processor_limit(0.01, lambda: InputError("too long.", "")):
        spin(5.0)
    with processor_limit(5.0, lambda: InputError("too long.", "")):
        spin(0.03)
    assert signal.getsignal(signal.SIGVTALRM) is before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_no_limit_where_no_signal_arrives() -> None:
    def limited() -> None:
        with processor_limit(0.001, lambda: InputError("too long.", "")):
            spin(0.03)
        ended.append(True)

    ended: list[bool] = []
    thread = Thread(target=limited)
    thread.start()
    thread.join()
    assert ended == [True]


def test_host_code_that_takes_too_long_ends_in_a_sentence_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tree_sitter_cuda")
    text = "".join(f"struct S{i} {{ int a; int get() const {{ return a + {i}; }} }};\n" for i in range(400))
    monkeypatch.setattr(host_code, "PARSING_S", 0.001)
    with pytest.raises(InputError, match="more than 0.001 s") as refused:
        host_code.split_host_code(text + "__global__ void k() {}", {}, lambda _: True)
    assert "--compiler nvcc" in str(refused.value)
