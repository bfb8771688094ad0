"""Sweeps on workers that die, and sweeps that go on."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("pyarrow")
pytest.importorskip("distributed")

import distributed

from warpbound.sweeping import storage
from warpbound.sweeping.plan import plan
from warpbound.sweeping.runner import answer, sweep
from warpbound.sweeping.work_units import work_units

pytestmark = pytest.mark.cuda

SOURCE = """
__global__ void scale(float *y, const float *x, int n) {
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) y[i] = x[i] * EACH;
}
"""
LAUNCH = """
grid = [64, 1, 1]
block = [256, 1, 1]
args = [
    {name = "y", dtype = "f32", shape = [32768], fill = "zeros"},
    {name = "x", dtype = "f32", shape = [32768], fill = "rand"},
    {name = "n", dtype = "i32", value = 32768},
]
"""
PLAN = """
gpus = ["h200"]
clock = "boost"
[[kernels]]
source = "scale.cu"
grid = "32768/THREADS"
block = "THREADS"
[kernels.defines]
THREADS = [{threads}]
EACH = [{each}]
[parameters]
dram_bandwidth = {{ from = "0.5x", to = "2x", steps = {steps} }}
l2_bandwidth = {{ from = "0.5x", to = "2x", steps = {steps} }}
"""


def written(folder, each, steps, threads="64, 128, 256, 512, 1024"):
    (folder / "scale.cu").write_text(SOURCE)
    (folder / "scale.toml").write_text(LAUNCH)
    file = folder / "plan.toml"
    file.write_text(PLAN.format(each=", ".join(map(str, range(1, each + 1))), steps=steps, threads=threads))
    return file


def test_a_sweep_goes_on_where_it_was_stopped(tmp_path):
    small = written(tmp_path, each=7, steps=2, threads="256")
    whole = sweep(small, processes=1)
    assert whole["point"].to_pylist() == list(range(28))
    file = small.with_suffix(".parquet")
    bytes_of_whole = file.read_bytes()
    made = plan(small)
    first, second = work_units(made)

    file.unlink()
    storage.answered_units(file, [first, second])
    storage.write_part(file, first.key, answer(made, first))
    (storage.parts_folder(file) / f"{second.key}.parquet.1.unfinished").write_bytes(b"half a part")
    calls = []
    sweep(small, processes=1, progress=lambda done, of: calls.append((done, of)))
    assert calls == [(first.points, 28), (28, 28)]
    assert file.read_bytes() == bytes_of_whole
    assert not storage.parts_folder(file).exists()

    calls.clear()
    sweep(small, processes=1, progress=lambda done, of: calls.append((done, of)))
    assert calls == [(28, 28)]  # nothing is asked again


def test_points_without_an_answer_say_why(tmp_path):
    rows = sweep(written(tmp_path, each=1, steps=2, threads="256, 2048"), processes=1).to_pylist()
    assert all(row["error"] and row["time_s"] is None for row in rows if "THREADS=2048" in row["defines"])
    assert all(row["time_s"] and row["error"] is None for row in rows if "THREADS=256" in row["defines"])


@pytest.mark.full
@pytest.mark.broad
def test_a_killed_worker_loses_nothing_and_doubles_nothing(tmp_path):
    """10,000 points in five units on two workers, of which one is killed when the first unit is done."""
    file = written(tmp_path, each=5, steps=20)
    alone = tmp_path / "alone.parquet"
    expected = sweep(file, out=alone, processes=1)
    assert expected.num_rows == 10_000
    killed = []
    with distributed.LocalCluster(2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:

        def kill(done, of):
            if done and not killed:
                killed.append(cluster.workers[0].pid)
                os.kill(killed[0], signal.SIGKILL)

        found = sweep(file, scheduler=cluster.scheduler_address, progress=kill)
    assert killed
    assert found["point"].to_pylist() == list(range(10_000))
    assert found.equals(expected)
    assert file.with_suffix(".parquet").read_bytes() == alone.read_bytes()


@pytest.mark.broad
def test_a_caller_that_is_killed_leaves_what_is_done(tmp_path):
    file = written(tmp_path, each=5, steps=2)
    parts = storage.parts_folder(file.with_suffix(".parquet"))
    command = [sys.executable, "-m", "warpbound", "sweep", str(file), "--jobs", "1"]
    caller = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(1200):
        if list(parts.glob("*.parquet")):
            break
        time.sleep(0.1)
    caller.kill()
    caller.wait()
    ready = {path.stem for path in parts.glob("*.parquet")}
    assert ready
    calls = []
    rows = sweep(file, processes=1, progress=lambda done, of: calls.append(done))
    assert calls[0] == sum(unit.points for unit in work_units(plan(file)) if unit.key in ready) > 0
    assert rows["point"].to_pylist() == list(range(100))
    assert not np.isnan(rows["time_s"].to_numpy()).any()
