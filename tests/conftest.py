"""Options and fixtures of the whole suite."""

import gc
import os
import re
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from support.joint_listings import disassemble_together
from support.paths import ROOT
from warpbound.cli import output, validation

WEEKS_S = 1e6
OF_THE_TERMINAL = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "DISPLAY", "WAYLAND_DISPLAY")
BROWSER_WORDS = ("--no-sandbox", "--disable-dev-shm-usage")  # a container's shared memory is too small for a large page
BROWSER_PATIENCE_MS = 900_000
BROWSER_STARTS = 3  # attempts before it counts as missing
SYSTEM_BROWSERS = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
WORKER_B = 1_500_000_000  # what a process of the suite takes at most
TOGETHER = {  # folder: files that share what one process makes once, a run on the fake GPU and compiled code
    "measure": ("test_board_page", "test_coverage", "test_failures", "test_fake_run", "test_runner"),
    "program": ("test_control_flow", "test_cuobjdump", "test_kernel_resources", "test_machine_code", "test_registers"),
}
LONG = (  # files to begin with, the longest first, so that no process is left alone with one at the end
    "emulate/test_kernels", "measure/", "validate/test_cache_rows", "page/test_worker", "page/test_browser",
    "reproduce/test_verdicts", "page/", "test_docs", "test_examples", "reproduce/", "fuzz/",
)  # fmt: skip
MARKED = {  # tests that take long, a line each, by the mark they get; tools/broad_tests.py writes the files
    "slow": ROOT / "tests" / "slow.txt",
    "broad": ROOT / "tests" / "broad.txt",
    "full": ROOT / "tests" / "full.txt",
}
LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")  # of a container, in bytes

# The same examples in every run, so that a commit is judged by what it changed; `make full` draws new ones. No clock
# fails a test. Hypothesis also draws numbers that stand in our own code, of the modules loaded so far: which those are
# depends on the tests that this process ran before, so it gets none.
settings.register_profile("any-speed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeatable", settings.get_profile("any-speed"), derandomize=True)
settings.load_profile("repeatable")
if hasattr(providers, "_get_local_constants") and hasattr(providers, "_local_constants"):
    providers._get_local_constants = lambda: providers._local_constants


gc.set_threshold(100_000, 50, 50)  # look through the objects of caches less often: a twentieth of the time

if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):  # hundreds of processes would each compile every module anew
    sys.dont_write_bytecode = False


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rewrite-docs", action="store_true", help="put today's output into the documentation")


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """No more processes than there is memory for, unless their number is given."""
    processors = yield
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return processors
    return max(1, min([processors, *(room // WORKER_B for room in _memory())]))


def _memory() -> Iterator[int]:
    """Bytes that the tests may take, by each part of a Linux system that bounds them."""
    for limit in map(Path, LIMITS):
        if limit.is_file() and (text := limit.read_text("ascii").strip()).isdigit():
            yield int(text)
    told = Path("/proc/meminfo")
    if told.is_file() and (found := re.search(r"MemAvailable: +(\d+) kB", told.read_text("ascii"))):
        yield 1024 * int(found[1])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """One process runs all tests of a file, and all files that share what is slow to make."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = Path(nodeid.partition("::")[0])
            return file.parent.name if file.stem in TOGETHER.get(file.parent.name, ()) else str(file)

    return ByFile(config, log) if config.option.dist == "loadfile" else None


@pytest.hookimpl(tryfirst=True)  # before pytest deselects by marks
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long tests are left to the broad run and to `make full`; several processes begin with the long files."""
    for mark, file in MARKED.items():
        listed = set(file.read_text("utf-8").splitlines())
        for item in items:
            if item.nodeid in listed:
                item.add_marker(mark)
    if hasattr(config, "workerinput"):
        items.sort(key=_place)


def _place(item: pytest.Item) -> int:
    """The place of a test's file among the long ones; behind them all otherwise."""
    return next((place for place, name in enumerate(LONG) if f"tests/{name}" in item.nodeid), len(LONG))


@pytest.fixture(scope="session", autouse=True)
def anywhere() -> Iterator[None]:
    """What is said depends neither on the reader's terminal nor on how fast the machine is.

    No command says how far it is, as it does where that takes long.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in OF_THE_TERMINAL:
            patch.delenv(name, raising=False)
        patch.setenv("WARPBOUND_COMPILER", "nvrtc")  # golden numbers are of its code, whatever nvcc is on the machine
        patch.setattr(output, "SILENCE", WEEKS_S)
        patch.setattr(validation, "TELL_EVERY_S", WEEKS_S)
        yield


@pytest.fixture(scope="module")
def disassembled_together(request: pytest.FixtureRequest) -> None:
    """For files with many small kernels: one start of nvdisasm for all of an architecture."""
    disassemble_together(request)


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Debian's Chromium, or Playwright's own: one for all tests of a process."""
    sync_api = pytest.importorskip("playwright.sync_api")
    own = next((path for path in SYSTEM_BROWSERS if Path(path).exists()), None)
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        if "HOME" not in os.environ:  # Playwright does not start without
            patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        started = stack.enter_context(sync_api.sync_playwright())
        for attempt in range(1, BROWSER_STARTS + 1):
            try:
                launched = started.chromium.launch(executable_path=own, args=BROWSER_WORDS, timeout=BROWSER_PATIENCE_MS)
                break
            except sync_api.Error as missing:
                if attempt == BROWSER_STARTS:
                    pytest.skip(f"no browser here: {str(missing).splitlines()[0]}")
        yield launched
        launched.close()
