"""Random programs give what the host's own compiler says, to the bit: an independent judge of the emulator.

The default run judges a few fixed ones; the long one draws new ones and shows a small part of what goes wrong.
"""

import platform
import shutil

import pytest

from support.random_programs import judging
from support.random_programs.damage import FULL_PART, new_ones
from support.random_programs.judging import smallest, verdict, way_of
from support.random_programs.programs import written

pytestmark = [
    pytest.mark.cuda,
    pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is the judge, and is not here"),
    pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the judge counts on x86's __float128"),
]
FEW = (0, 2, 7, 14)  # four architectures, bfloats and halves among them


@pytest.mark.parametrize("seed", FEW)
def test_random_programs(seed, tmp_path):
    program = written(seed)
    arch, options = way_of(program, seed)
    assert not verdict(program, arch, tmp_path, options)


def test_a_difference_is_noticed(tmp_path, monkeypatch):
    program, right = written(FEW[0]), judging.host_text
    monkeypatch.setattr(judging, "host_text", lambda one: right(one).replace("] = shown(v.x", "] = 1 + shown(v.x"))
    arch, options = way_of(program, FEW[0])
    assert verdict(program, arch, tmp_path, options).startswith("out[")


@pytest.mark.full
def test_new_programs(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for seed in new_ones(4 * FULL_PART):
        program = written(seed)
        arch, options = way_of(program, seed)
        if wrong := verdict(program, arch, tmp_path, options):
            least = smallest(program, arch, tmp_path, options)
            pytest.fail(f"seed {seed}, sm_{arch}, {options}: {wrong}; with less of it:\n{least}")
