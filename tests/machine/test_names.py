"""A board by its names; an architecture without a board."""


import pytest

from support.paths import GPUS
from warpbound.errors import CommandError, InputError
from warpbound.isa.limits import compute_capabilities, limits
from warpbound.machine import (
    catalogue,
    gpu,
)

# --- names ----------------------------------------------------------------------------------------


def test_names():
    h200 = gpu("h200")
    for name in ("H200", "h200-sxm", "H200 SXM", "NVIDIA H200", "h200_sxm", GPUS / "h200.toml"):
        assert gpu(name) == h200
    assert gpu(str(GPUS / "h200.toml")) == h200
    assert gpu(h200) is h200
    for name, key in (("RTX4090", "rtx-4090"), ("GeForce RTX 4090", "rtx-4090"), ("quadro FX5600", "fx5600"),
                      ("NVIDIA GH200 480GB", "gh200"), ("tesla-v100pcie", "v100-pcie")):  # fmt: skip
        assert gpu(name).key == key
    assert hash(gpu(GPUS / "h200.toml")) == hash(h200)
    assert (h200.arch, gpu("rtx-4090").arch) == (90, 89)


def test_unknown_names_are_answered_with_near_ones():
    with pytest.raises(CommandError, match="'h20' is not in the catalogue. Did you mean h200"):
        gpu("h20")
    with pytest.raises(CommandError, match="'rtx4900' .* Did you mean .*rtx-4090"):
        gpu("rtx4900")
    for nothing in (3, None, b"h200"):
        with pytest.raises(CommandError, match="names no GPU"):
            gpu(nothing)
    with pytest.raises(CommandError, match="'%%' is not in the catalogue. `warpbound gpus` lists all names"):
        gpu("%%")
    with pytest.raises(InputError, match="GPU file nowhere.toml cannot be read .* Check the path"):
        gpu("nowhere.toml")


def test_no_two_boards_share_a_name():
    seen = {}
    for key in catalogue():
        board = gpu(key)
        for name in {key, board.name.lower().replace(" ", "-"), *board.aliases}:
            assert seen.setdefault(name, key) == key
            assert seen.setdefault(name.replace("-", ""), key) == key


def test_architecture_alone():
    orin = gpu("sm_87")
    assert (orin.compute_capability, orin.arch, orin.board, dict(orin.parameters)) == ("8.7", 87, False, {})
    assert gpu("sm_90a").arch == 90
    assert gpu("SM_121").compute_capability == "12.1"
    assert orin.get("dram_bandwidth") is None
    with pytest.raises(
        InputError, match="sm_87 .* no value for dram_bandwidth .* --set dram_bandwidth=NUMBER in GB/s"
    ):
        orin.value("dram_bandwidth")
    with pytest.raises(CommandError, match="Compute capability '8.4' is not known"):
        gpu("sm_84")


def test_every_architecture_has_limits():
    for capability in compute_capabilities():
        rules = limits(capability)
        assert gpu(f"sm_{rules.arch}").compute_capability == capability
        assert rules.sources, capability
        assert rules.carveouts_KiB == tuple(sorted(rules.carveouts_KiB)), capability
        assert 1024 * rules.carveouts_KiB[-1] == rules.shared_per_sm, capability
        assert rules.max_shared_per_block + rules.reserved_shared_per_block <= rules.shared_per_sm, capability
        assert rules.registers_per_sm % rules.sub_cores == 0, capability
        assert rules.max_warps_per_sm % rules.sub_cores == 0, capability
        if rules.unified_l1_shared_KiB:
            assert rules.unified_l1_shared_KiB >= rules.carveouts_KiB[-1], capability
