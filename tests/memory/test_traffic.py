"""Traffic of whole launches from traces made by hand: exact counts, and samples against complete traces."""

from dataclasses import replace

import numpy as np
import pytest

from support.handmade_traces import COPY, IN, LANE, MACHINE, OUT, copy, program, trace
from warpbound.errors import InputError
from warpbound.memory.hierarchy import Facts
from warpbound.memory.traffic import How, traffic
from warpbound.memory.traffic_counts import launch_memory


def hit_shares(found):
    """Fractions of the loaded sectors from L1, L2 and DRAM for each instruction; 0 where none are loaded."""
    by_level = found.by_instruction.sectors_from
    return (by_level / np.maximum(1, by_level.sum(axis=1, keepdims=True))).tolist()


@pytest.mark.parametrize("method", ["estimate", "exact"])
def test_complete_copy(method):
    # 64 blocks x 4 warps: 256 requests of 4 sectors each way, 32768 bytes each way
    found = traffic(COPY, trace(range(64), 64, 4, copy), MACHINE, How("cold", method))
    assert (found.global_load_requests, found.global_store_requests) == (256, 256)
    assert (found.l1_sectors_load, found.l1_sectors_store) == (1024, 1024)
    assert (found.l2_sectors_read, found.l2_sectors_written) == (1024, 1024)
    assert (found.dram_bytes_read, found.dram_bytes_written) == (32768, 32768)
    assert found.left_in_l2_bytes == 32768  # it fits
    assert (found.l1_hit_rate, found.l2_hit_rate) == (0, 0.5)  # loads miss, stores need no fetch
    assert found.sectors_per_request == 4
    assert found.ideal_sectors == 2048
    assert found.touched_bytes == 65536
    assert found.l1_wavefronts == 512
    assert (found.scale, found.sampling_error) == (1, 0)
    assert found.notes == ()
    assert found.by_instruction.requests.tolist() == [256, 256]
    assert hit_shares(found) == [[0, 0, 1], [0, 0, 0]]
    warm = traffic(COPY, trace(range(64), 64, 4, copy), MACHINE, How("warm", method))
    assert (warm.dram_bytes_read, warm.dram_bytes_written) == (0, 0)
    assert warm.l2_hit_rate == 1
    assert hit_shares(warm) == [[0, 1, 0], [0, 0, 0]]
    assert warm.by_instruction.requests_from.tolist() == [[0, 256, 0], [0, 0, 0]]


GROUPS = [*range(8), *range(2000, 2008), *range(4088, 4096)]
ARRAYS = ((IN, 4096 * 512), (OUT, 4096 * 512))


@pytest.mark.parametrize("blocks", [GROUPS, [0], [7, 100, 2000], list(range(32))], ids=len)
@pytest.mark.parametrize("arrays", [(), ARRAYS], ids=["unbounded", "bounded"])
def test_sampled_copy(blocks, arrays):
    # 4096 blocks x 512 bytes each way = 2 MiB each way; 4 MiB in all against an L2 of 4 and of 64 MiB
    sample = trace(blocks, 4096, 4, copy)
    cold = traffic(COPY, sample, MACHINE, How("cold", arrays=arrays))
    assert cold.global_load_requests == 4096 * 4
    assert cold.l1_sectors_load == 4096 * 16
    assert cold.dram_bytes_read == pytest.approx(2 << 20, rel=0.01)
    assert cold.dram_bytes_written == pytest.approx(2 << 20, rel=0.01)
    assert cold.l2_hit_rate == pytest.approx(0.5, abs=0.01)
    assert cold.notes
    large, small = (Facts(80, 4, 2, 128 << 10, size << 20) for size in (64, 1))
    warm = traffic(COPY, sample, large, How("warm", arrays=arrays))
    assert (warm.dram_bytes_read, warm.dram_bytes_written) == pytest.approx((0, 0), abs=100)
    spilled = traffic(COPY, sample, small, How("warm", arrays=arrays))
    assert spilled.dram_bytes_read == pytest.approx(2 << 20, rel=0.01)
    assert spilled.dram_bytes_written == pytest.approx(2 << 20, rel=0.01)


def matmul(n):
    """C = A B in tiles of 16 x 16, one element per thread; 8 warps a block, 2 rows of the tile each."""
    a, b, c = IN, IN + 4 * n * n, IN + 8 * n * n
    tiles = n // 16

    def events(block, warp):
        by, bx = divmod(block, tiles)
        ty, tx = 2 * warp + LANE // 16, LANE % 16
        row, column = 16 * by + ty, 16 * bx + tx
        found = []
        for tile in range(tiles):
            found.append(("global", 0, a + 4 * (row * n + 16 * tile + tx), None))
            found.append(("global", 1, b + 4 * ((16 * tile + ty) * n + column), None))
            found.append(("shared", 2, 4 * (16 * ty + tx), None))
            found.append(("shared", 3, 1024 + 4 * (16 * ty + tx), None))
            for k in range(16):
                found.append(("shared", 4, 4 * (16 * ty + k), None))
                found.append(("shared", 5, 1024 + 4 * (16 * k + tx), None))
        return [*found, ("global", 6, c + 4 * (row * n + column), None)]

    code = program("LDG.E", "LDG.E", "STS", "STS", "LDS", "LDS", "STG.E")
    arrays = tuple((start, 4 * n * n) for start in (a, b, c))
    return code, events, arrays


def test_complete_tiled_matmul():
    n, tiles = 64, 4
    code, events, _ = matmul(n)
    found = traffic(code, trace(range(16), 16, 8, events), MACHINE, How("cold", "exact"))
    warps = 16 * 8
    assert found.global_load_requests == warps * tiles * 2
    assert found.global_store_requests == warps
    # a warp loads 2 rows of 16 floats: 2 x 64 B = 4 sectors
    assert found.l1_sectors_load == warps * tiles * 2 * 4
    assert found.l1_sectors_store == warps * 4
    assert found.shared_load_requests == warps * tiles * 32
    assert found.shared_wavefronts_load == warps * tiles * 32  # two words, or 16 words: no conflict
    assert found.shared_wavefronts_store == warps * tiles * 2
    assert found.shared_conflict_wavefronts == 0
    assert found.dram_bytes_read == 2 * 4 * n * n  # everything fits: each byte once
    assert found.dram_bytes_written == 4 * n * n
    # blocks on one SM share tiles: 4 SMs, 4 blocks each, b mod 4 = its column: all of one column of B
    # per SM: 16 row tiles of A and 4 column tiles of B of 32 sectors each come from L2
    assert found.l2_sectors_read == 4 * (16 + 4) * 32
    assert found.l1_hit_rate == pytest.approx(1 - 4 * 20 * 32 / (warps * tiles * 8))


def test_sampled_tiled_matmul():
    n = 512  # 1024 blocks; sampled: three groups of four
    code, events, arrays = matmul(n)
    blocks = [*range(4), *range(500, 504), *range(1020, 1024)]
    found = traffic(code, trace(blocks, 1024, 8, events), MACHINE, How("cold", arrays=arrays))
    assert found.global_load_requests == 1024 * 8 * 32 * 2
    assert found.dram_bytes_read == pytest.approx(2 * 4 * n * n, rel=0.05)
    assert found.dram_bytes_written == pytest.approx(4 * n * n, rel=0.05)
    warm = traffic(code, trace(blocks, 1024, 8, events), MACHINE, How("warm", arrays=arrays))
    assert warm.dram_bytes_read == 0  # 3 MiB in an L2 of 4 MiB
    # In 2 MiB A does not stay until the next launch; B is touched again by every row of blocks, between which only
    # 1 MiB and a bit go by.
    less = traffic(code, trace(blocks, 1024, 8, events), replace(MACHINE, l2_bytes=2 << 20), How("warm", arrays=arrays))
    assert less.dram_bytes_read == pytest.approx(4 * n * n, rel=0.05)


@pytest.mark.parametrize("l2_KiB", [32, 512])
def test_sample_against_every_block(l2_KiB):
    # n = 128: 64 blocks, three matrices of 64 KiB; sampled: the ends, and neighbours in the middle
    code, events, arrays = matmul(128)
    machine = Facts(80, 4, 2, 16 << 10, l2_KiB << 10)
    every = trace(range(64), 64, 8, events)
    some = trace([0, 28, 29, 32, 63], 64, 8, events)
    weights = np.array([1.0, 62 / 3, 62 / 3, 62 / 3, 1.0])
    for cache in ("cold", "warm"):
        truth = traffic(code, every, machine, How(cache, "exact"))
        quick = traffic(code, every, machine, How(cache))
        assert quick.l2_hit_rate == pytest.approx(truth.l2_hit_rate, abs=0.03)
        assert quick.l1_hit_rate == pytest.approx(truth.l1_hit_rate, abs=0.03)
        found = traffic(code, some, machine, How(cache, arrays=arrays, weights=weights, grid=(8, 8)))
        assert found.l1_sectors_load == pytest.approx(truth.l1_sectors_load)
        assert found.sampling_error == 0
        assert found.dram_bytes_read + found.dram_bytes_written == pytest.approx(
            truth.dram_bytes_read + truth.dram_bytes_written, rel=0.05, abs=4096
        )


@pytest.mark.parametrize("windows", [2, 4])
def test_windows_that_overlap_are_read_once(windows):
    # block b reads segments b to b + windows - 1 of 512 bytes, and writes segment b
    def sliding(block, warp):
        own = block * 512 + warp * 128 + 4 * LANE
        return [("global", n, IN + own + n * 512, None) for n in range(windows)] + [
            ("global", windows, OUT + own, None)
        ]

    code = program(*["LDG.E"] * windows, "STG.E")
    blocks, arrays = 1024, ((IN, 1 << 24), (OUT, 1 << 24))
    machine = Facts(80, 4, 2, 16 << 10, 4 << 20)
    truth = traffic(code, trace(range(blocks), blocks, 4, sliding), machine, How("cold", "exact", arrays=arrays))
    sample = trace([0, 511, 512, 1023], blocks, 4, sliding)
    found = traffic(code, sample, machine, How("cold", arrays=arrays, grid=(blocks, 1, 1)))
    assert truth.dram_bytes_read == (blocks + windows - 1) * 512
    assert found.dram_bytes_read == pytest.approx(truth.dram_bytes_read, rel=0.02)
    assert found.dram_bytes_written == pytest.approx(truth.dram_bytes_written, rel=0.02)


def test_transposes():
    # 32 x 32 tile of a matrix of 32 columns, 32 warps: columns of 128 B rows are read, rows written
    def naive(block, warp):
        return [("global", 0, IN + 4 * (LANE * 32 + warp), None), ("global", 1, OUT + 4 * (warp * 32 + LANE), None)]

    found = traffic(COPY, trace([0], 1, 32, naive), MACHINE, How("cold"))
    assert found.by_instruction.sectors.tolist() == [32 * 32, 32 * 4]
    assert found.by_instruction.ideal_sectors.tolist() == [32 * 4, 32 * 4]
    assert found.sectors_per_request == 18
    # 128 distinct sectors, each asked for by 8 warps one after the other: 7 of 8 hit
    assert found.l1_hit_rate == 7 / 8
    assert found.dram_bytes_read == 4096

    def tiled(stride):
        return lambda block, warp: [
            ("shared", 0, 4 * (warp * stride + LANE), None),
            ("shared", 1, 4 * (LANE * stride + warp), None),
        ]

    code = program("STS", "LDS")
    for stride, ways in ((32, 32), (33, 1)):
        found = traffic(code, trace([0], 1, 32, tiled(stride)), MACHINE)
        assert found.shared_wavefronts_store == 32
        assert found.shared_wavefronts_load == 32 * ways
        assert found.shared_conflict_wavefronts == 32 * (ways - 1)
        assert found.by_instruction.shared_conflict_wavefronts.tolist() == [0, 32 * (ways - 1)]


@pytest.mark.parametrize(
    ("mnemonic", "addresses", "narrow"),
    [
        ("LDG.E", 4 * LANE, 1),         # 128 bytes handed over: two cycles of 64 bytes instead of one
        ("LDG.E.128", 16 * LANE, 4),    # 512 bytes: eight instead of four
        ("LDG.E", 0 * LANE, 0),         # one word for all lanes passes once
        ("LDG.E", 4096 * LANE, 0),      # lanes on one bank: 32 cycles with either width
        ("LDG.E", 8 * LANE, 0),         # two lanes a bank: two cycles with either width
    ],
)  # fmt: skip
def test_cycles_of_an_l1_of_half_the_width(mnemonic, addresses, narrow):
    one = trace([0], 1, 1, lambda block, warp: [("global", 0, IN + addresses, None)])
    found = traffic(program(mnemonic), one, MACHINE)
    assert found.l1_narrow == narrow
    memory = launch_memory(found)
    assert memory.l1_cycles(86, 64.0) == found.l1_wavefronts + narrow
    assert memory.l1_cycles(80, 128.0) == found.l1_wavefronts
    assert memory.l1_cycles(52, 64.0) == 2 * found.l1_wavefronts


@pytest.mark.parametrize(
    "addresses, pieces",
    [
        (4 * LANE, 0),      # one whole line
        (8 * LANE, 0),      # two lines, of each every sector
        (128 * LANE, 32),   # a sector of 32 lines
        (0 * LANE, 1),      # a sector of one
        (32 * LANE, 0),     # four sectors of each of eight lines
    ],
)  # fmt: skip
def test_an_sm_hands_pieces_of_lines_over_one_by_one(addresses, pieces):
    one = trace([0], 1, 1, lambda block, warp: [("global", 0, IN + addresses, None)])
    stored, loaded = (traffic(program(name), one, MACHINE) for name in ("STG.E", "LDG.E"))
    assert (stored.store_pieces, loaded.store_pieces) == (pieces, 0)
    memory = launch_memory(stored)
    assert memory.l1_cycles(80, 128.0) == max(4.0 * pieces, stored.l1_wavefronts)
    assert memory.l1_cycles(52, 128.0) == stored.l1_wavefronts


def test_second_read_hits_l1_unless_it_bypasses():
    def twice(block, warp):
        return [("global", i, IN + 4 * LANE + 128 * warp, None) for i in (0, 1)]

    sample = trace([0], 1, 2, twice)
    plain = traffic(program("LDG.E", "LDG.E"), sample, MACHINE)
    assert plain.l1_hit_rate == 0.5
    assert hit_shares(plain)[1] == [1, 0, 0]
    assert plain.by_instruction.requests_from[1].tolist() == [2, 0, 0]
    assert traffic(program("LDG.E", "LDG.E.STRONG.GPU"), sample, MACHINE).l1_hit_rate == 0
    assert traffic(program("LDG.E", "LDGSTS.E.BYPASS.128"), sample, MACHINE).l1_hit_rate == 0
    no_l1 = Facts(80, 4, 2, 0, 4 << 20)
    assert traffic(program("LDG.E", "LDG.E"), sample, no_l1).l1_hit_rate == 0


def test_l1_of_a_partly_sampled_sm_is_shared_out():
    # each block loops twice over 48 KiB; two blocks per SM share 64 KiB: 32 KiB for the one sampled
    def loop(block, warp):
        lines = [IN + block * (1 << 20) + 128 * i + 4 * LANE for i in range(384)]
        return [("global", 0, line, None) for line in lines * 2]

    small = Facts(80, 4, 2, 64 << 10, 4 << 20)
    assert traffic(program("LDG.E"), trace([0], 1, 1, loop), small).l1_hit_rate == 0.5
    assert traffic(program("LDG.E"), trace([0], 64, 1, loop), small).l1_hit_rate == 0
    # blocks 0 and 4 are together on one SM; 9 alone of the two on another has no more room than they
    assert traffic(program("LDG.E"), trace([0, 4, 9], 64, 1, loop), small).l1_hit_rate == 0


def test_local_memory_is_interleaved():
    def spill(block, warp):
        return [("local", 0, np.full(32, 8), None), ("local", 1, np.full(32, 16), None)]

    code = program("STL", "LDL.128", local_bytes=32)
    found = traffic(code, trace(range(4), 4, 2, spill), MACHINE)
    # one offset in all lanes is one line: 4 sectors; 16 bytes are 4 lines
    assert (found.local_store_requests, found.local_load_requests) == (8, 8)
    assert found.by_instruction.sectors.tolist() == [8 * 4, 8 * 16]
    assert found.local_sectors == 8 * 20
    assert found.global_load_requests == 0
    assert found.sectors_per_request is None
    assert found.by_instruction.requests.tolist() == [8, 8]


def test_atomics():
    def one_counter(block, warp):
        return [("global", 0, np.full(32, IN), None), ("shared", 1, 4 * (LANE % 2), None)]

    found = traffic(program("RED.E.ADD", "ATOMS.ADD"), trace(range(8), 8, 1, one_counter), MACHINE, How("cold"))
    assert found.global_atomic_requests == 8
    assert found.l2_sectors_atomic == 8
    assert (found.l2_sectors_read, found.l2_sectors_written) == (0, 0)
    assert found.dram_bytes_read == 32
    assert found.dram_bytes_written == 32
    assert found.atomic_steps == 8 * 32 + 8 * 16
    assert found.shared_wavefronts_atomic == 8 * 16  # 16 lanes in each of two banks
    assert found.by_instruction.atomic_steps.tolist() == [8 * 32, 8 * 16]


@pytest.mark.parametrize(
    "opcode, places, wavefronts",
    [
        ("ATOMS.ADD", np.zeros(32), 32),
        ("ATOMS.POPC.INC.32", np.zeros(32), 1),            # counts the lanes of its one address
        ("ATOMS.POPC.INC.32", LANE % 2, 16),               # of two: as any other
        ("ATOMS.POPC.INC.32", LANE, 1),
    ],
)
def test_increments_of_one_word_are_counted_at_once(opcode, places, wavefronts):
    def bins(block, warp):
        return [("shared", 0, 4 * places.astype(np.int64), None)]

    assert traffic(program(opcode), trace([0], 1, 1, bins), MACHINE).shared_wavefronts_atomic == wavefronts


def test_async_copies_count_on_both_sides_and_matrices_by_eight_rows():
    def both(block, warp):
        return [
            ("global", 0, IN + 16 * LANE, None),
            ("shared", 0, 16 * LANE, None),
            ("shared", 1, 16 * LANE, None),  # all lanes give addresses, only 8 or 16 or 32 of them count
            ("shared", 2, 16 * LANE, None),
            ("shared", 3, 16 * LANE, None),
        ]

    code = program("LDGSTS.E.BYPASS.128", "LDSM.16.M88", "LDSM.16.M88.2", "LDSM.16.M88.4")
    found = traffic(code, trace([0], 1, 1, both), MACHINE)
    assert found.by_instruction.requests.tolist() == [1, 1, 1, 1]
    assert found.l1_sectors_load == 16
    assert found.shared_wavefronts_store == 4
    assert found.by_instruction.shared_wavefronts.tolist() == [4, 1, 2, 4]


def test_idle_accesses_and_empty_traces():
    idle = np.zeros(32, bool)
    found = traffic(COPY, trace([0], 1, 1, lambda b, w: [("global", 0, IN + 4 * LANE, idle)]), MACHINE)
    assert found.global_load_requests == 0
    assert found.l1_hit_rate is None
    nothing = traffic(COPY, trace([0, 1], 2, 2, lambda b, w: []), MACHINE)
    assert nothing.dram_bytes_read == nothing.pages == 0
    with pytest.raises(InputError, match="no block"):
        traffic(COPY, trace([], 4, 1, copy), MACHINE)
    with pytest.raises(InputError, match="lukewarm"):
        traffic(COPY, trace([0], 1, 1, copy), MACHINE, How("lukewarm"))


def test_sampling_error_of_uneven_blocks():
    def uneven(block, warp):  # blocks 0 and 1 load 1 and 3 lines: mean 2, deviation sqrt 2
        return [("global", 0, IN + 4 * LANE + 128 * i, None) for i in range(1 + 2 * block)]

    found = traffic(program("LDG.E"), trace([0, 1], 200, 1, uneven), MACHINE)
    assert found.sampling_error == pytest.approx(np.sqrt(2) / 2 / np.sqrt(2) * np.sqrt(0.99))
    assert traffic(program("LDG.E"), trace([0], 200, 1, uneven), MACHINE).sampling_error is None


def test_weights_replace_the_even_scale():
    sample = trace([0, 5], 10, 4, copy)
    found = traffic(COPY, sample, MACHINE, How(weights=np.array([1.0, 9.0])))
    assert found.global_load_requests == 40
