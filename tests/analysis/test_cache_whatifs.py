"""Ways to use the caches: loads past L1, a larger L1, fewer blocks; each where it helps, with the reason."""

import re

import pytest

import warpbound

SOURCE = """
// A table that every block reads again and again, and data that are read once: together they are too much for L1.
extern "C" __global__ void table(double* to, const double* again, const int* once, int entries, int rounds) {
    double sum = 0.0;
    int place = threadIdx.x;
    unsigned long long i = threadIdx.x + (unsigned long long)blockIdx.x * blockDim.x * rounds;
    for (int k = 0; k < rounds; k++, i += blockDim.x) {
        double seen = again[place];
        place = place + blockDim.x < entries ? place + blockDim.x : threadIdx.x;
        int new_one = once[i + (seen > 1e300)];  // asked for when the table has answered
        sum += new_one < 0 ? -seen : seen;
    }
    to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// The table alone, beside shared memory.
extern "C" __global__ void beside(double* to, const double* again, int entries, int rounds) {
    __shared__ double kept[4096];
    kept[threadIdx.x] = threadIdx.x;
    __syncthreads();
    double sum = 0.0;
    for (int k = 0; k < rounds; k++) sum += again[(k * blockDim.x + threadIdx.x) % entries];
    to[blockIdx.x * blockDim.x + threadIdx.x] = sum + kept[(threadIdx.x * 33) % 4096 & 1023];
}

// Every block its own chunk, again and again: the more blocks, the less of L1 for each.
extern "C" __global__ void chunks(double* to, const double* a, int entries, int rounds) {
    const double* mine = a + (unsigned long long)blockIdx.x * entries;
    double sum = 0.0;
    for (int k = 0; k < rounds; k++) sum += mine[(k * blockDim.x + threadIdx.x) % entries];
    to[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""
THREADS, BLOCKS, ROUNDS = 1024, 108, 44  # all data fit the side of L2 that is near
TABLE = 17 * 1024  # doubles: 136 KiB of the 160 that L1 has without shared memory


def asked(kernel: str, **launch: object) -> dict:
    program = warpbound.compile(SOURCE, "a100-sxm-80gb", kernel=kernel)
    return warpbound.analyze(program, "a100-sxm-80gb", warpbound.launch(**launch))


def arguments(rounds: int = ROUNDS, entries: int = TABLE) -> list[str]:
    size = THREADS * BLOCKS
    return [f"to=f64[{size}]:zeros", f"again=f64[{entries}]:zeros", f"once=i32[{size * rounds}]:zeros",
            f"entries={entries}", f"rounds={rounds}"]  # fmt: skip


def launched(kernel: str, words: list[str], block: int = THREADS, blocks: int = BLOCKS) -> dict:
    args = dict(word.split("=") for word in words)
    from warpbound.kernel_launch import parse_argument

    return asked(kernel, grid=(blocks,), block=(block,), args=[parse_argument(f"{k}={v}") for k, v in args.items()])


def choice(entry: dict, word: str) -> dict | None:
    found = [w for w in entry["whatifs"] if word in w["change"]]
    assert len(found) <= 2
    return found[0] if found else None


@pytest.mark.parametrize("rounds", [ROUNDS, 60])  # beside data that are near, and of which a part is far
def test_data_read_once_go_past_l1_so_that_the_table_stays(rounds: int) -> None:
    entry = launched("table", arguments(rounds))
    what = choice(entry, "past L1")
    assert what is not None
    line = next(i for i, text in enumerate(SOURCE.splitlines(), 1) if "once[i" in text)
    assert f"of line {line} past L1 (__ldcg, ld.global.cg)" in what["change"]
    assert what["speedup"] > 1.008  # the data that are read once take their time all the same
    before, after = (int(share) for share in re.findall(r"(?:L1 serves|then) (\d+) %", what["why"]))
    assert after > before + 5


def test_a_small_table_needs_no_choice() -> None:
    entry = launched("table", arguments(entries=2048))  # 16 KB
    assert choice(entry, "past L1") is None
    assert choice(entry, "carve-out of") is None


def test_less_shared_memory_makes_room_in_l1() -> None:
    words = [word for word in arguments(rounds=150, entries=19 * 1024) if not word.startswith("once")]  # 152 KB
    what = choice(launched("beside", words), "half the shared memory")
    assert what is not None
    assert what["speedup"] > 1.05
    assert re.search(r"for L1 \(\d+ KiB instead of \d+ KiB\)", what["change"])


def test_fewer_blocks_have_more_of_the_caches_each() -> None:
    entries, blocks = 4096, 108 * 8  # 32 KiB each: eight do not fit the 160 KiB of L1, four do
    words = [f"to=f64[{256 * blocks}]:zeros", f"a=f64[{entries * blocks}]:zeros", f"entries={entries}", "rounds=160"]
    entry = launched("chunks", words, block=256, blocks=blocks)
    what = choice(entry, "throttling), so that")
    assert what is not None
    assert what["speedup"] > 1.1
    assert entry["memory"]["l1_hit_rate"] < 0.6


@pytest.mark.parametrize("name", ["saxpy", "matmul_tiled", "transpose_naive"])
def test_kernels_that_l1_cannot_help_are_told_nothing_of_it(name: str) -> None:
    program = warpbound.compile(f"examples/{name}.cu", "a100-sxm-80gb")
    entry = warpbound.analyze(program, "a100-sxm-80gb", warpbound.launch(f"examples/{name}.toml"))
    assert not [w for w in entry["whatifs"] if "past L1" in w["change"] or "so that each has" in w["change"]]
