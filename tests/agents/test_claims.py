"""Claimed rates against what boards can do."""

import pytest

from warpbound.agents.claims import check
from warpbound.errors import CommandError


@pytest.mark.parametrize(
    ("gpu", "rate", "unit", "arithmetic", "possible"),
    [
        ("rtx-4090", 1009, "GB/s", "fp32", True),
        ("rtx-4090", 1030, "GB/s", "fp32", False),
        ("h200", 4.7, "TB/s", "fp32", True),
        ("h200", 5.0, "TB/s", "fp32", False),
        ("a100-sxm-80gb", 19.4, "TFLOP/s", "fp32", True),
        ("a100-sxm-80gb", 20.0, "TFLOP/s", "fp32", False),
        ("a100-sxm-80gb", 9.6, "TFLOP/s", "fp64", True),
        ("a100-sxm-80gb", 10.0, "TFLOP/s", "fp64", False),
        ("a100-sxm-80gb", 311.0, "TFLOP/s", "tensor", True),
        ("a100-sxm-80gb", 320.0, "TFLOP/s", "tensor", False),
    ],
)
def test_the_boards_published_peaks_decide(gpu, rate, unit, arithmetic, possible):
    """NVIDIA's data sheets: A100 19.5 TFLOP/s FP32, 9.7 FP64, 312 FP16 tensor; H200 4.8 TB/s; RTX 4090 1,008 GB/s."""
    verdict = check(gpu, rate, unit, arithmetic)
    assert verdict.possible is possible
    assert ("not possible" in verdict.reason) is not possible


@pytest.mark.parametrize(
    ("rate", "unit", "arithmetic"), [(0, "GB/s", "fp32"), (1, "GB", "fp32"), (1, "TFLOP/s", "fp128")]
)
def test_mistakes_are_named(rate, unit, arithmetic):
    with pytest.raises(CommandError):
        check("h200", rate, unit, arithmetic)
