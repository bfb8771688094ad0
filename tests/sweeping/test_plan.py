"""Plans of sweeps: what they mean, and what is wrong with them."""

from pathlib import Path

import pytest

from warpbound import machine
from warpbound.errors import WarpboundError
from warpbound.sweeping.plan import plan
from warpbound.sweeping.work_units import PER_UNIT, work_units

EXAMPLES = Path(__file__).parents[2] / "examples"
KERNEL = f'[[kernels]]\nsource = "{EXAMPLES}/matmul_tiled.cu"\n'
TILES = 'grid = "2048/TILE,2048/TILE"\nblock = "TILE,TILE"\n[kernels.defines]\nTILE = [8, 16, 32]\n'
BOARD = 'gpus = ["h200"]\n'


def made(tmp_path, text):
    file = tmp_path / "plan.toml"
    file.write_text(text)
    return plan(file)


def test_points_are_all_combinations(tmp_path):
    text = f'gpus = ["h200", "l4"]\n{KERNEL}{TILES}[parameters]\nl2_size = ["1x", "2x"]\nsm_count = [58]\n'
    one = made(tmp_path, text)
    assert one.points == 3 * 2 * 2
    units = work_units(one)
    assert sum(unit.points for unit in units) == one.points
    assert [unit.first for unit in units] == [0, 6]  # boards of two architectures
    assert all(len(unit.tunings) <= PER_UNIT for unit in units)
    assert one.subjects[0].tunings[0].launch.grid == (256, 256, 1)


def test_values_are_numbers_times_or_a_range(tmp_path):
    text = 'dram_bandwidth = { from = "0.5x", to = "2x", steps = 3, scale = "log" }\nsm_count = ["0.333x", 100]\n'
    one = made(tmp_path, f"{BOARD}{KERNEL}[parameters]\n{text}")
    board = machine.gpu("h200")
    own = board.parameters["dram_bandwidth"].value
    assert one.axes[0].on(board) == pytest.approx((own / 2, own, own * 2))
    assert one.axes[1].on(board) == (44.0, 100.0)  # whole SMs


def test_a_key_is_of_everything_that_decides_the_answers(tmp_path):
    def key(text):
        return work_units(made(tmp_path, text))[0].key

    base = BOARD + KERNEL
    assert key(base) == key(base + "# a comment\n")
    others = [
        base.replace("h200", "h100-pcie"), base + "[parameters]\nsm_count = [100]\n",
        base.replace("gpus", 'clock = "boost"\ngpus'), base + "[kernels.defines]\nTILE = [16]\n",
    ]  # fmt: skip
    assert len({key(text) for text in (base, *others)}) == 5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("gpus = [", "is not TOML"),
        ('gpus = ["h2000"]\n' + KERNEL, "not in the catalogue"),
        ('gpus = ["sm_90"]\n' + KERNEL, "is an architecture"),
        (BOARD + "kernels = []", "has no kernels"),
        (BOARD + '[[kernels]]\nsource = "none.cu"', "there is no file"),
        (BOARD + "gpu = 1\n" + KERNEL, "Did you mean 'gpus'"),
        (BOARD + KERNEL + "[parameters]\nl2_sise = [1]", "l2_size"),
        (BOARD + KERNEL + "[parameters]\nl2_size = [1, 1]", "different numbers"),
        (BOARD + KERNEL + "[parameters]\nl2_size = [-1]", "above 0"),
        (BOARD + KERNEL + '[parameters]\nl2_size = ["twice"]', "parameters"),
        (BOARD + KERNEL + '[parameters]\nl2_size = { from = 1, to = "2x", steps = 2 }', "not of one kind"),
        (BOARD + KERNEL + 'grid = "1/0"\n', "divides by 0"),
    ],
)
def test_mistakes_are_one_sentence(tmp_path, text, words):
    with pytest.raises(WarpboundError) as refused:
        made(tmp_path, text)
    assert words in str(refused.value)


def test_kernels_added_at_the_end_leave_the_keys_of_the_others(tmp_path):
    before = work_units(made(tmp_path, BOARD + KERNEL))
    after = work_units(made(tmp_path, f'{BOARD}{KERNEL}[[kernels]]\nsource = "{EXAMPLES}/saxpy.cu"\n'))
    assert [unit.key for unit in after][: len(before)] == [unit.key for unit in before]
