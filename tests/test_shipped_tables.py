"""Tables from the cache are those of their files, also where the cache is damaged or cannot be written."""

import tomllib
from pathlib import Path

import pytest

import warpbound
from warpbound.shipped_tables import shipped_table

ROOT = Path(warpbound.__file__).parent


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("place", [("isa", "opcodes.toml"), ("board_parameters.toml",), ("gpus", "h200.toml")])
def test_the_table_of_the_file(place: tuple[str, ...], empty_cache: Path) -> None:
    table = tomllib.loads(ROOT.joinpath(*place).read_text(encoding="utf-8"))
    assert shipped_table(*place) == table
    (kept,) = [one for one in empty_cache.rglob("*") if one.is_file()]
    assert shipped_table(*place) == table
    kept.write_bytes(b"damaged")
    assert shipped_table(*place) == table


def test_without_a_cache(empty_cache: Path) -> None:
    (empty_cache / "warpbound").write_text("a file where the folder should be")
    assert shipped_table("board_parameters.toml")
