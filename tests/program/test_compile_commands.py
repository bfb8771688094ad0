"""A build's compile_commands.json gives macros, folders and options; what the user says himself wins."""

import json
from pathlib import Path

import pytest

from warpbound.errors import InputError
from warpbound.program.compile_commands import with_build
from warpbound.program.compile_options import Options


def build(root: Path, **entry: object) -> Path:
    """A build folder whose one entry is for `a/kernel.cu`."""
    (root / "a").mkdir()
    (root / "build").mkdir()
    (root / "a" / "kernel.cu").touch()
    whole = {"directory": str(root / "build"), "file": "../a/kernel.cu", **entry}
    (root / "build" / "compile_commands.json").write_text(json.dumps([{"file": "other.cu"}, whole]))
    return root / "build"


COMMAND = (
    "nvcc -DTILE=16 -D NAME -I../include -isystem /opt/x --use_fast_math -std=c++20 -maxrregcount 64 "
    "-Xcompiler -Wall -gencode arch=compute_80,code=sm_80 -c ../a/kernel.cu -o kernel.o"
)


@pytest.mark.parametrize("entry", [{"command": COMMAND}, {"arguments": COMMAND.split()}])
def test_what_changes_code_is_taken_and_the_rest_left(entry: dict[str, object], tmp_path: Path) -> None:
    place = build(tmp_path, **entry)
    options = with_build(Options(build=place, include=(Path("own"),)), tmp_path / "a" / "kernel.cu")
    assert options.defines == (("TILE", "16"), ("NAME", "1"))
    assert options.include == (Path("own"), place / "../include", Path("/opt/x"))
    assert options.extra == ("--use_fast_math", "-std=c++20", "-maxrregcount=64")


def test_the_users_own_macro_wins(tmp_path: Path) -> None:
    place = build(tmp_path, command=COMMAND)
    options = with_build(Options(build=place, defines=(("TILE", "32"),)), tmp_path / "a" / "kernel.cu")
    assert options.defines == (("NAME", "1"), ("TILE", "32"))


def test_without_a_build_nothing_changes(tmp_path: Path) -> None:
    options = Options(defines=(("A", "1"),))
    assert with_build(options, tmp_path / "kernel.cu") is options


def test_what_is_wrong_with_the_build_is_named(tmp_path: Path) -> None:
    place = build(tmp_path, command=COMMAND)
    with pytest.raises(InputError, match="has no entry for elsewhere.cu"):
        with_build(Options(build=place), Path("elsewhere.cu"))
    with pytest.raises(InputError, match="cannot be read"):
        with_build(Options(build=tmp_path / "a"), tmp_path / "a" / "kernel.cu")
    (place / "compile_commands.json").write_text("[")
    with pytest.raises(InputError, match="is not JSON"):
        with_build(Options(build=place), tmp_path / "a" / "kernel.cu")
