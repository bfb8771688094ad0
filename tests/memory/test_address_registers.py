"""Addresses from the machine code's arithmetic equal the ones that the emulator reaches, on several architectures."""

from dataclasses import replace

import numpy as np
import pytest

from support.sass_listing import kernel
from warpbound.emulate import trace
from warpbound.emulate.trace import Trace
from warpbound.kernel_launch import launch
from warpbound.machine import gpu
from warpbound.memory import requests
from warpbound.memory.address_registers import Threads
from warpbound.memory.static_accesses import Access, predicted, threads_of
from warpbound.program import Program, programs
from warpbound.program.cuda import Options
from warpbound.workload.static_paths import loops, whole

ARCHITECTURES = (75, 80, 90, 120)
SOURCE = r"""
#define I (blockIdx.x * blockDim.x + threadIdx.x)
extern "C" {
__global__ void strided(const float *a, float *b, int n) { b[I] = a[I * 3] + a[I * 8] + a[I * 32]; }
__global__ void offset(const float *a, float *b, int n) { b[I + 1] = a[I + 3] + a[I + 8]; }
__global__ void backwards(const float *a, float *b, int n) { b[n - 1 - I] = a[I]; }
__global__ void broadcast(const float *a, float *b, int n) { b[I] = a[blockIdx.x] + a[threadIdx.x / 32]; }
__global__ void wide(const float4 *a, double *b, int n) { float4 v = a[I]; b[I] = v.x + v.w; }
__global__ void record(const float *a, float *b, int n) { b[I] = a[I * 5] + a[I * 5 + 4]; }
__global__ void bytes(const unsigned char *a, short *b, int n) { b[I] = a[I] + a[I * 2 + 1]; }
__global__ void rows(const float *a, float *b, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    b[y * n + x] = a[x * n + y];
}
__global__ void tile(const float *a, float *b, int n) {
    __shared__ float t[32][32], p[32][33];
    int x = threadIdx.x, y = threadIdx.y;
    t[y][x] = a[(blockIdx.y * 32 + y) * n + blockIdx.x * 32 + x];
    p[y][x] = t[y][x] * 2;
    __syncthreads();
    b[(blockIdx.x * 32 + y) * n + blockIdx.y * 32 + x] = t[x][y] + p[x][y];
}
__global__ void swizzled(const float *a, float *b, int n) {
    __shared__ float t[1024];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    t[warp * 32 + (lane ^ warp)] = a[I];
    __syncthreads();
    b[I] = t[lane * 32 + (lane ^ warp)] + t[lane * 32 + warp];
}
__global__ void grid_stride(const float *a, float *b, int n) {
    for (int i = I; i < n; i += gridDim.x * blockDim.x) b[i] = a[i];
}
__global__ void sliding(const float *a, float *b, int n) {
    float sum = 0;
#pragma unroll 1
    for (int k = 0; k < 32; k++) sum += a[I + k];
    b[I] = sum;
}
__global__ void rows_by_division(const float *a, float *b, int n) {
    int row = threadIdx.x / 8, column = threadIdx.x % 8;
    b[I] = a[(blockIdx.x * 32 + row) * n + column];
}
__global__ void shared_broadcast(const float *a, float *b, int n) {
    __shared__ float4 t[64];
    if (threadIdx.x < 64) t[threadIdx.x] = ((const float4 *)a)[threadIdx.x];
    __syncthreads();
    float4 v = t[threadIdx.x / 32], w = t[threadIdx.x / 16];
    b[I] = v.x + v.y + v.z + v.w + w.x + w.y + w.z + w.w;
}
}
"""
N = 512
CASES = {  # kernel: (grid, block)
    "strided": ((8,), (128,)),
    "offset": ((8,), (128,)),
    "backwards": ((4,), (128,)),
    "broadcast": ((32,), (128,)),
    "wide": ((8,), (128,)),
    "record": ((8,), (96,)),
    "bytes": ((8,), (128,)),
    "rows": ((4, 4), (16, 16)),
    "tile": ((3, 3), (32, 32)),
    "swizzled": ((4,), (1024,)),
    "grid_stride": ((2,), (64,)),
    "sliding": ((4,), (64,)),
    "rows_by_division": ((4,), (256,)),
    "shared_broadcast": ((4,), (64,)),
}


@pytest.fixture(scope="module", params=ARCHITECTURES)
def compiled(request: pytest.FixtureRequest) -> dict[str, Program]:
    found = programs(SOURCE.encode(), gpu(f"sm_{request.param}"), None, Options())
    return {program.name: program for program in found}


def of_code(program: Program, threads: Threads) -> dict[tuple[int, str], Access]:
    streams = [whole(program), *(loop.stream for loop in loops(program))]
    return predicted(program, program.arch, threads, streams)


def counted(program: Program, seen: Trace, index: int, space: str) -> float:
    """Sectors or shared-memory wavefronts of one instruction, mean over all warps of the launch."""
    recorded = seen.accesses[space]
    rows = recorded.instruction == index
    some = recorded.rows(rows)
    assert some.active.all()
    if space == "shared":
        return float(requests.shared_cost(some, program.instructions, program.arch).wavefronts.mean())
    return float(requests.global_cost(some, program.instructions).sectors.mean())


@pytest.mark.cuda
@pytest.mark.parametrize("name", CASES)
def test_sectors_and_wavefronts_are_the_emulator_s(compiled: dict[str, Program], name: str) -> None:
    program, (grid, block) = compiled[name], CASES[name]
    written = np.float64 if name == "wide" else np.float32
    order = launch(grid=grid, block=block, args={"a": np.zeros(1 << 18, np.float32),
                                                 "b": np.zeros(1 << 18, written), "n": np.int32(N)})  # fmt: skip
    offset = next(p.offset for p in program.parameters if p.name == "n")
    found = of_code(program, threads_of(program, order.block, order.grid, {offset: N}))
    seen = trace(program, order, list(range(int(np.prod(grid)))))
    places = {(int(i), space) for space, some in seen.accesses.items() for i in set(some.instruction.tolist())}
    places = {place for place in places if place[1] in ("global", "shared")}
    assert places
    for index, space in places:
        told = found[index, space]
        assert not told.depends_on, program.instructions[index].text
        said = told.sectors if space == "global" else told.wavefronts
        assert said == pytest.approx(counted(program, seen, index, space)), program.instructions[index].text


@pytest.mark.cuda
@pytest.mark.parametrize("name", ["rows", "tile", "rows_by_division", "backwards"])
def test_unknown_row_lengths_are_taken_as_aligned(compiled: dict[str, Program], name: str) -> None:
    """Without n and the grid the answer is that for the 512 of the launch: a row is long and aligned."""
    program = compiled[name]
    order = launch(grid=CASES[name][0], block=CASES[name][1])
    offset = next(p.offset for p in program.parameters if p.name == "n")
    with_n = of_code(program, threads_of(program, order.block, order.grid, {offset: N}))
    without = of_code(program, threads_of(program, order.block, None, {}))
    assert {key: one.sectors for key, one in with_n.items()} == {key: one.sectors for key, one in without.items()}


@pytest.mark.cuda
def test_examples_of_every_kind(compiled: dict[str, Program]) -> None:
    """Worked by hand: sectors per request, and wavefronts of shared memory."""

    def sectors(name: str) -> list[float]:
        program, (grid, block) = compiled[name], CASES[name]
        order = launch(grid=grid, block=block)
        found = of_code(program, threads_of(program, order.block, None, {}))
        return sorted(access.sectors for (_, space), access in found.items() if space == "global")

    assert sectors("strided") == [4, 12, 32, 32]  # 3 x 128 B in 12 sectors; 32 B and 128 B apart: one sector each
    assert sectors("offset") == [4, 5, 5]  # 12 B or 4 B off: a fifth sector; 32 B off: none
    assert sectors("sliding") == [4, 4.875]  # 7 of 8 alignments reach into a fifth sector
    assert sectors("bytes") == [1, 2, 2]  # 32 x 1 B; 32 x 2 B; every other byte of 64
    program = compiled["tile"]
    found = of_code(program, threads_of(program, (32, 32, 1), None, {}))
    assert sorted(access.wavefronts for (_, space), access in found.items() if space == "shared") == [1, 1, 1, 32]
    program = compiled["shared_broadcast"]
    found = of_code(program, threads_of(program, (64, 1, 1), None, {}))
    reads = [
        access.wavefronts
        for (index, space), access in found.items()
        if space == "shared" and program.instructions[index].opcode == "LDS"
    ]
    assert reads == [2, 2]  # one or two addresses per warp: the four quarters pair up


# ------------------------------------------------------------------------------------- by hand


def told(text: str, block: tuple[int, int, int] = (64, 1, 1)) -> list[Access]:
    """The accesses of a listing, in order."""
    rows = [row.strip() for row in text.strip().splitlines()]
    program = kernel("\n".join(row if row.endswith(":") else f"B------:R-:W-:-:S01  {row}" for row in rows))
    return [access for _, access in sorted(of_code(program, Threads(block)).items())]


def test_a_constant_as_a_pair_of_halves() -> None:
    (access,) = told("""
        S2R R0, SR_TID.X
        HFMA2.MMA R3, -RZ, RZ, 0, 2.384185791015625e-07
        IMAD.WIDE R2, R0, R3, c[0x0][0x160]
        LDG.E R4, [R2.64]
        EXIT
    """)
    assert (access.sectors, access.stride) == (4, 4)


def test_a_loaded_index_is_not_known_and_says_where_it_came_from() -> None:
    first, second = told("""
        S2R R0, SR_TID.X
        IMAD.WIDE R2, R0, 0x4, c[0x0][0x160]
        LDG.E R4, [R2.64]
        IMAD.WIDE R6, R4, 0x4, c[0x0][0x168]
        LDG.E R5, [R6.64]
        EXIT
    """)
    assert first.sectors == 4
    assert second.depends_on == "data loaded at 0x20"
    assert second.sectors == 0


def test_an_index_that_all_lanes_load_alike_may_have_any_alignment() -> None:
    _, second = told("""
        MOV R2, c[0x0][0x160]
        LDG.E R4, [R2.64]
        S2R R0, SR_TID.X
        IADD3 R4, R4, R0, RZ
        IMAD.WIDE R6, R4, 0x4, c[0x0][0x168]
        LDG.E R5, [R6.64]
        EXIT
    """)
    assert second.sectors == 4.875


GUARDED = """
    S2R R0, SR_TID.X
    IMAD.WIDE R2, R0, 0x4, c[0x0][0x160]
    ISETP.GE.AND P0, PT, R0, R9, PT
    {guard} IMAD.WIDE R2, R0, 0x8, c[0x0][0x160]
    {between}
    {reader} LDG.E R5, [R2.64]
    EXIT
"""


@pytest.mark.parametrize(
    "guard, between, reader, sectors",
    [
        ("@P0", "NOP", "@P0", 8),
        ("@P0", "NOP", "@!P0", 4),
        ("@!P0", "NOP", "@P0", 4),
        ("@P0", "NOP", "", None),
        ("@P0", "NOP", "@P1", None),
        ("@P0", "ISETP.GE.AND P0, PT, R0, R9, PT", "@P0", None),
        ("", "NOP", "@P0", 8),
        ("@!PT", "NOP", "", 4),
    ],
)
def test_what_a_guarded_write_leaves_behind(guard: str, between: str, reader: str, sectors: int | None) -> None:
    (access,) = told(GUARDED.format(guard=guard, between=between, reader=reader))
    if sectors is None:
        assert access.depends_on == "a choice between two values"
    else:
        assert access.sectors == sectors


def test_a_loop_whose_step_differs_from_lane_to_lane_is_not_known() -> None:
    (access,) = told("""
        S2R R0, SR_TID.X
        MOV R1, RZ
        .L_loop:
        IMAD.WIDE R2, R1, 0x4, c[0x0][0x160]
        LDG.E R5, [R2.64]
        IADD3 R1, R1, R0, RZ
        ISETP.GE.AND P0, PT, R1, c[0x0][0x168], PT
        @!P0 BRA `(.L_loop)
        EXIT
    """)
    assert access.depends_on == "a step that differs from lane to lane"


@pytest.mark.parametrize("step, sectors", [("0x20", 4), ("0x1", 4.875), ("0x8", 4), ("0x4", 4.5)])
def test_the_step_of_a_loop_moves_the_alignment(step: str, sectors: float) -> None:
    (access,) = told(f"""
        S2R R1, SR_TID.X
        .L_loop:
        IMAD.WIDE R2, R1, 0x4, c[0x0][0x160]
        LDG.E R5, [R2.64]
        IADD3 R1, R1, {step}, RZ
        ISETP.GE.AND P0, PT, R1, c[0x0][0x168], PT
        @!P0 BRA `(.L_loop)
        EXIT
    """)
    assert access.sectors == sectors


def test_shared_memory_with_a_scaled_register() -> None:
    first, second = told("""
        S2R R0, SR_TID.X
        LDS R1, [R0.X4+0x10]
        LDS R2, [R0.X8]
        EXIT
    """)
    assert (first.wavefronts, second.wavefronts) == (1, 2)


@pytest.mark.parametrize(
    "arch, offset", [(20, 0x8), (35, 0x28), (52, 0x8), (61, 0x8), (70, 0x0), (90, 0x0), (100, 0x360)]
)
def test_where_each_machine_keeps_the_size_of_the_block(arch: int, offset: int) -> None:
    program = replace(kernel("B------:R-:W-:-:S01  EXIT"), arch=arch)
    words = threads_of(program, (32, 4, 2), (7, 5, 3), {}).words
    assert [words[offset + 4 * axis] for axis in range(3)] == [32, 4, 2]
    assert sorted(words.values()) == [2, 3, 4, 5, 7, 32]


OLD = """
    S2R R0, SR_TID.X
    S2R R1, SR_CTAID.X
    IMAD R0, R1, c[0x0][0x28], R0
    {index}
    ISCADD R4, R2, c[0x0][0x140], 0x2
    LD.E R5, [R4]
    EXIT
"""


@pytest.mark.parametrize(
    "index, expected",
    [
        ("MOV R2, R0", {13: (2, 4), 20: (1, 4), 35: (4, 4), 52: (4, 4)}),
        ("SHL R2, R0, 0x1", {13: (2, 8), 20: (2, 8), 35: (8, 8), 52: (8, 8)}),
        ("IADD32I R2, R0, 0x1", {13: (3, 7), 20: (2, 8), 35: (5, 5), 52: (5, 5)}),
        ("SHR.U32 R2, R0, 0x5", {13: (2, 2), 20: (1, 4), 35: (1, 1), 52: (1, 1)}),
        ("LOP32I.AND R2, R0, 0x10", {13: (2, 2), 20: (1, 4), 35: (2, 2), 52: (2, 2)}),
        ("IMUL R2, R0, 0x20", {13: (32, 32), 20: (32, 128), 35: (32, 32), 52: (32, 32)}),
    ],
)
def test_each_machine_counts_transactions_by_its_own_rule(index: str, expected: dict[int, tuple[int, int]]) -> None:
    """(transactions, 32-byte units they move) on 1.3, 2.0, 3.5 and 5.2, in the opcodes of machines before Volta."""
    rows = [row.strip() for row in OLD.format(index=index).strip().splitlines()]
    program = kernel("\n".join(f"B------:R-:W-:-:S01  {row}" for row in rows))
    for arch, found in expected.items():
        (access,) = predicted(program, arch, Threads((64, 1, 1), {0x28: 64}), [whole(program)]).values()
        assert (access.transactions, access.sectors) == found, arch


def test_copies_to_shared_memory_have_two_addresses() -> None:
    program_threads = """
        S2R R0, SR_TID.X
        IMAD.WIDE R2, R0, 0x20, c[0x0][0x160]
        IMAD.SHL.U32 R5, R0, 0x10, RZ
        LDGSTS.E.BYPASS.128 [R5], [R2.64]
        EXIT
    """
    on_global, on_shared = told(program_threads)
    assert (on_global.sectors, on_global.stride) == (32, 32)
    assert (on_shared.wavefronts, on_shared.stride) == (4, 16)


def test_atomics_and_their_results() -> None:
    """What an atomic returns differs from lane to lane, even from one address."""
    first, second = told("""
        MOV R2, c[0x0][0x160]
        ATOMG.E.ADD.STRONG.GPU PT, R4, [R2.64], R1
        IMAD.WIDE R6, R4, 0x4, c[0x0][0x168]
        RED.E.ADD.STRONG.GPU [R6.64], R1
        EXIT
    """)
    assert (first.sectors, first.stride) == (1, 0)
    assert second.depends_on.startswith("data loaded")


def test_negative_terms_and_masks() -> None:
    (access,) = told("""
        S2R R0, SR_TID.X
        LOP3.LUT R1, R0, 0xfffffff8, RZ, 0xc0, !PT
        IADD3 R1, -R1, 0x100, RZ
        IMAD.WIDE R2, R1, 0x4, c[0x0][0x160]
        LDG.E R4, [R2.64]
        EXIT
    """)
    assert (access.sectors, access.ideal_sectors) == (4, 1)


def test_what_floating_point_makes_is_not_known() -> None:
    (access,) = told("""
        FADD R0, R1, R2
        LDS R1, [R0]
        EXIT
    """)
    assert access.depends_on == "`FADD` at 0x0"
