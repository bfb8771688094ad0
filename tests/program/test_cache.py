"""What is kept must be made again whenever anything that went in has changed, and never be trusted blindly."""

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from warpbound import disk_cache
from warpbound.machine import gpu
from warpbound.program import nvdisasm, nvrtc
from warpbound.program.cuda import Options
from warpbound.program.headers import reachable
from warpbound.program.source_files import programs

pytestmark = pytest.mark.cuda

CONSTANT = '#include "value.h"\n__global__ void k(int* x) { x[0] = VALUE; }\n'


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "kept"))
    return tmp_path / "kept"


def stored(path: Path, options: Options | None = None) -> str:
    """The constant that the kernel stores, as its code says."""
    (found,) = programs(path, gpu("sm_80"), None, options or Options())
    return next(
        operand.text
        for one in found.instructions
        for operand in one.operands
        if operand.text in ("0x11", "0x22", "0x33")
    )


def source(folder: Path, text: str = CONSTANT) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "k.cu"
    path.write_text(text)
    return path


def test_the_code_that_rested_longest_makes_room(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"{first}f" + 62 * "e" for first in "1234"]
    for age, name in enumerate(reversed(names)):
        assert disk_cache.cached(name, lambda: b"code") == b"code"
        os.utime(empty_cache / "warpbound" / name[:2] / name, (1e9 - age, 1e9 - age))
    disk_cache.cached(names[0], lambda: b"made again")  # the oldest, which is now the last used
    (size,) = {file.stat().st_size for file in empty_cache.rglob("*f*e")}
    monkeypatch.setattr(disk_cache, "MOST_B", 3 * size)
    disk_cache.cached("5" + names[0][1:], lambda: b"code")
    assert len([*empty_cache.rglob("*f*e")]) == 5  # not every file that is stored makes room
    disk_cache.cached("0" + names[0][1:], lambda: b"code")
    remaining = {file.name[0] for file in empty_cache.rglob("*f*e")}
    assert remaining == {"0", "1", "5"}


def test_a_changed_header_beside_the_source(tmp_path: Path) -> None:
    path = source(tmp_path)
    for value in ("0x11", "0x22", "0x11"):
        (tmp_path / "value.h").write_text(f"#define VALUE {value}\n")
        assert stored(path) == value


def test_a_changed_header_of_a_header_in_an_include_folder(tmp_path: Path) -> None:
    path = source(tmp_path / "src")
    (tmp_path / "inc" / "deep").mkdir(parents=True)
    (tmp_path / "inc" / "value.h").write_text("#ifdef NEVER\n#include <none.h>\n#endif\n#include <deep/more.h>\n")
    for value in ("0x11", "0x22"):
        (tmp_path / "inc" / "deep" / "more.h").write_text('#include "last.h"\n')
        (tmp_path / "inc" / "deep" / "last.h").write_text(f"#define VALUE {value}\n")
        assert stored(path, Options(include=(tmp_path / "inc",))) == value


def test_a_changed_header_in_a_folder_given_as_a_compiler_option(tmp_path: Path) -> None:
    path = source(tmp_path / "src")
    for value in ("0x11", "0x22"):
        (tmp_path / "value.h").write_text(f"#define VALUE {value}\n")
        assert stored(path, Options(extra=(f"-I{tmp_path}",))) == value
        assert stored(path, Options(extra=(f"--include-path={tmp_path}",))) == value


def test_a_changed_header_that_a_macro_names(tmp_path: Path) -> None:
    path = source(tmp_path, '#define NAME "value.h"\n#include NAME\n__global__ void k(int* x) { x[0] = VALUE; }\n')
    for value in ("0x11", "0x22"):
        (tmp_path / "value.h").write_text(f"#define VALUE {value}\n")
        assert stored(path) == value


def test_the_order_of_include_folders(tmp_path: Path) -> None:
    path = source(tmp_path / "src")
    for folder, value in (("one", "0x11"), ("two", "0x22")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "value.h").write_text(f"#define VALUE {value}\n")
    folders = (tmp_path / "one", tmp_path / "two")
    assert stored(path, Options(include=folders)) == "0x11"
    assert stored(path, Options(include=folders[::-1])) == "0x22"


def test_a_new_header_that_goes_before(tmp_path: Path) -> None:
    path = source(tmp_path / "src")
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "value.h").write_text("#define VALUE 0x11\n")
    assert stored(path, Options(include=(tmp_path / "inc",))) == "0x11"
    (tmp_path / "src" / "value.h").write_text("#define VALUE 0x22\n")
    assert stored(path, Options(include=(tmp_path / "inc",))) == "0x22"


def test_relative_include_folders_in_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, value in (("one", "0x11"), ("two", "0x22")):
        source(tmp_path / folder / "src")
        (tmp_path / folder / "inc").mkdir()
        (tmp_path / folder / "inc" / "value.h").write_text(f"#define VALUE {value}\n")
        monkeypatch.chdir(tmp_path / folder)
        assert stored(Path("src/k.cu"), Options(include=(Path("inc"),))) == value


def test_definitions_and_options(tmp_path: Path) -> None:
    text = "#ifndef VALUE\n#define VALUE 0x33\n#endif\n__global__ void k(int* x) { x[0] = VALUE; }\n"
    path = source(tmp_path, text)
    assert stored(path) == "0x33"
    assert stored(path, Options(defines=(("VALUE", "0x11"),))) == "0x11"
    assert stored(path, Options(extra=("-DVALUE=0x22",))) == "0x22"


def test_the_version_of_the_compiler_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty_cache: Path) -> None:
    path = source(tmp_path, "__global__ void k(int* x) { x[0] = 0x11; }\n")
    stored(path)
    before = sum(1 for one in empty_cache.rglob("*") if one.is_file() and "headers" not in str(one))
    monkeypatch.setattr(nvrtc, "version", lambda: "99.9")
    stored(path)
    assert sum(1 for one in empty_cache.rglob("*") if one.is_file() and "headers" not in str(one)) == before + 2


def test_the_second_time_neither_tool_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty_cache: Path
) -> None:
    path = source(tmp_path, "__global__ void k(int* x) { x[0] = 0x11; }\n")
    stored(path)

    def never(*_: object) -> None:
        raise AssertionError("called again")

    monkeypatch.setattr(nvrtc, "build", never)
    monkeypatch.setattr(nvdisasm, "_run", never)
    assert stored(path) == "0x11"


@pytest.mark.parametrize("damage", [b"", b"short", b"x" * 500], ids=["emptied", "cut", "overwritten"])
def test_damaged_entries_are_made_again(tmp_path: Path, empty_cache: Path, damage: bytes) -> None:
    path = source(tmp_path, "__global__ void k(int* x) { x[0] = 0x11; }\n")
    stored(path)
    for one in empty_cache.rglob("*"):
        if one.is_file() and "headers-" not in str(one):
            one.write_bytes(damage)
    assert stored(path) == "0x11"


HALVES = "#include <cuda_fp16.h>\n__global__ void k(int* x) { x[0] = 0x11; }\n"


def test_damaged_headers_are_unpacked_again(tmp_path: Path, empty_cache: Path) -> None:
    stored(source(tmp_path, HALVES))
    (header,) = empty_cache.rglob("cuda_fp16.h")
    whole = header.read_bytes()
    header.write_bytes(b"#error damaged\n")
    nvrtc._sound.cache_clear()  # as in another process
    assert stored(source(tmp_path, HALVES.replace("0x11", "0x22"))) == "0x22"
    assert header.read_bytes() == whole


def test_a_full_disk_stops_no_kernel_without_includes(
    tmp_path: Path, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(place: Path) -> None:
        raise OSError(28, "No space left on device", str(place))

    monkeypatch.setattr(nvrtc, "_unpack", full)
    assert stored(source(tmp_path, "__global__ void k(int* x) { x[0] = 0x11; }\n")) == "0x11"


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_cache_that_cannot_be_written(tmp_path: Path, empty_cache: Path) -> None:
    empty_cache.mkdir()
    empty_cache.chmod(stat.S_IRUSR | stat.S_IXUSR)
    assert stored(source(tmp_path, "__global__ void k(int* x) { x[0] = 0x11; }\n")) == "0x11"


def test_a_cache_whose_place_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert stored(source(tmp_path, "#include <cuda_fp16.h>\n__global__ void k(int* x) { x[0] = 0x11; }\n")) == "0x11"


def test_a_relative_cache_folder_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert disk_cache.folder() == tmp_path / ".cache" / "warpbound"


def test_without_a_home_results_are_kept_with_what_is_temporary(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", none)
    assert disk_cache.folder().parent == Path(tempfile.gettempdir())


def test_processes_that_start_at_once_on_an_empty_cache(tmp_path: Path, empty_cache: Path) -> None:
    path = source(tmp_path, "#include <cuda_fp16.h>\n__global__ void k(__half* x) { x[0] = __float2half(3.f); }\n")
    code = "import sys, pathlib, warpbound.program as p; p.compile_program(pathlib.Path(sys.argv[1]), 'sm_80')"
    running = [subprocess.Popen([sys.executable, "-c", code, str(path)], stderr=subprocess.PIPE) for _ in range(3)]
    assert [(one.wait(), (one.stderr.read() if one.stderr else b"")) for one in running] == [(0, b"")] * 3
    left = {one.name for one in (empty_cache / "warpbound").iterdir() if one.name.startswith("headers-")}
    assert len(left) == 1


def test_which_headers_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text('#  include "b.h"\n#include <cuda_fp16.h>\n// #include "c.h"\n')
    (tmp_path / "b.h").write_text('#pragma once\n#include "a.h"\n')
    found = reachable('#include "a.h"\n', (tmp_path,), ())
    assert {one.name for one in found.files} == {"a.h", "b.h"}
    assert found.certain
    assert not reachable("#include NAME\n", (), ()).certain
