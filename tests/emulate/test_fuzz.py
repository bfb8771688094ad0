"""Broken machine code and odd launches give a result or one clear error: no traceback, no hang, no stray write."""

import random

import pytest

from support.emulator.broken_launches import broken_code, checked, compiled, first, flipped_bits, random_launches, until
from warpbound.kernel_launch import launch

pytestmark = pytest.mark.cuda
# the first tests take a dozen seconds together, whatever they meet; the one for long takes twenty minutes
ALL = (75, 80, 86, 89, 90, 100, 120)


@pytest.mark.parametrize("arch", [80, pytest.param(120, marks=pytest.mark.broad)])
def test_broken_code(arch):
    assert first(200, broken_code(arch, random.Random(arch)))["ran"]


@pytest.mark.parametrize("arch", [90])
def test_flipped_bits(arch, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert first(12, flipped_bits(arch, random.Random(arch), tmp_path)).total()


@pytest.mark.parametrize("arch", [75, pytest.param(100, marks=pytest.mark.broad)])
def test_random_launches(arch):
    outcomes = first(2000, random_launches(arch, random.Random(arch)))
    assert outcomes["refused"]
    assert outcomes["ran"]
    assert not outcomes["strange"]


def test_the_rest_of_the_word_that_an_array_ends_in_is_no_stray_write():
    """Question 12257 of the random launches on sm_75: sums of 4 bytes into an array of 2."""
    scan = next(one for one in compiled(75) if one.source_name.endswith("scan.cu"))
    arguments = {0: "f64[2]:rand", 1: "f16[1]:iota", 2: 33, 3: 1}
    assert checked(scan, lambda: launch(grid=(40, 3, 3), block=(33, 2, 3), args=arguments)) != "strange"


@pytest.mark.full
@pytest.mark.parametrize("arch", ALL)
def test_for_long(arch, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    chance = random.Random(arch + 1)
    outcomes = until(60, broken_code(arch, chance)) + until(50, random_launches(arch, chance))
    outcomes += until(60, flipped_bits(arch, chance, tmp_path))
    assert outcomes["ran"]
    assert outcomes["refused"]
