"""A kernel on memory partitions: which block is where, what each carries, and the page that shows it."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import warpbound
from support.paths import EXAMPLES
from warpbound.camping.kernel_counters import Executed, executed
from warpbound.cli import main
from warpbound.report import figures
from warpbound.report.figures.picture import Bars, Boxes, numbers

PARTITIONS, WIDTH_B = 8, 256


@pytest.fixture(scope="module")
def naive() -> Executed:
    """The transpose of 4096 x 4096 floats by 32 x 8 threads: writes of a block go down a column."""
    program = warpbound.compile(EXAMPLES / "transpose_naive.cu", "t4")
    return executed(program, warpbound.launch(EXAMPLES / "transpose_naive.toml"), warpbound.gpu("gtx280"))


@pytest.mark.cuda
def test_reads_of_blocks_beside_each_other_spread_and_writes_camp(naive: Executed) -> None:
    first, last = naive.partition_at[:, 0], naive.partition_at[:, -1]
    tile_B = 32 * 4  # of a row
    assert first.tolist() == [block * tile_B // WIDTH_B % PARTITIONS for block in range(len(first))]
    assert (last == last[0]).all()  # rows lie 16 KiB apart, a multiple of all partitions


@pytest.mark.cuda
def test_the_shares_are_all_bytes_of_the_executed_blocks(naive: Executed) -> None:
    assert naive.bytes_at.shape == (PARTITIONS,)
    assert np.sort(naive.bytes_at)[4:].sum() > 0.8 * naive.bytes_at.sum()  # four waves, each in a column of tiles
    carried = figures.partition_shares(naive.bytes_at).named("carried")
    assert isinstance(carried, Bars)
    assert numbers(carried.length) == pytest.approx(100.0 * naive.bytes_at / naive.bytes_at.sum())


def test_each_access_is_a_box_in_the_colour_of_its_partition() -> None:
    at = np.array([[0, 3, -1], [1, 3, 3]])
    picture = figures.blocks_at_partitions(at)
    third = picture.named("partition 3")
    assert isinstance(third, Boxes)
    assert sorted(zip(numbers(third.left) + 0.5, numbers(third.bottom) + 0.5, strict=True)) == [(1, 0), (1, 1), (2, 1)]
    boxes = [layer for layer in picture.layers if isinstance(layer, Boxes)]
    assert sum(len(numbers(layer.left)) for layer in boxes) == 5
    assert len({layer.style for layer in boxes}) == 3


@pytest.mark.cuda
def test_the_page_has_the_band_and_of_a_kernel_its_partitions(tmp_path: Path) -> None:
    kernel, counters = tmp_path / "kernel.html", tmp_path / "counters.html"
    asked = [str(EXAMPLES / "transpose_tiled.cu"), "--launch", str(EXAMPLES / "transpose_tiled.toml")]
    done = CliRunner().invoke(main, ["campprof", "predict", *asked, "--format", "html", "-o", str(kernel)])
    assert done.exit_code == 0, done.stderr
    text = kernel.read_text("utf-8")
    assert "transpose_tiled on NVIDIA GeForce GTX 280" in text
    assert text.count("<figure ") == 3
    asked = ["--gld64", "1000", "--grid", "100", "--block", "256", "--warps", "8"]
    assert (
        CliRunner().invoke(main, ["campprof", "predict", *asked, "--format", "html", "-o", str(counters)]).exit_code
        == 0
    )
    assert counters.read_text("utf-8").count("<figure ") == 1
