"""Broken machine code and odd launches give a result or one clear error: no traceback, no hang, no stray write."""

import random

import pytest
from fuzzing import broken_code, flipped_bits, random_launches, until

pytestmark = pytest.mark.cuda
# the tests for a moment take a minute together, the one for long twenty
ALL = (75, 80, 86, 89, 90, 100, 120)


@pytest.mark.parametrize("arch", [80, 120])
def test_broken_code_for_a_moment(arch):
    assert until(12, broken_code(arch, random.Random(arch)))["ran"]


@pytest.mark.parametrize("arch", [90])
def test_flipped_bits_for_a_moment(arch, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert until(12, flipped_bits(arch, random.Random(arch), tmp_path)).total()


@pytest.mark.parametrize("arch", [75, 100])
def test_random_launches_for_a_moment(arch):
    outcomes = until(12, random_launches(arch, random.Random(arch)))
    assert outcomes["refused"]
    assert outcomes["ran"]
    assert not outcomes["strange"]


@pytest.mark.full
@pytest.mark.parametrize("arch", ALL)
def test_for_long(arch, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    chance = random.Random(arch + 1)
    outcomes = until(60, broken_code(arch, chance)) + until(50, random_launches(arch, chance))
    outcomes += until(60, flipped_bits(arch, chance, tmp_path))
    assert outcomes["ran"]
    assert outcomes["refused"]
