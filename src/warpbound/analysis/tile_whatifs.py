"""What-ifs of kernels that multiply tiles copied by the copy engine: stores beside the next products, larger tiles.

Source   our own; the sizes of tensor memory from the PTX ISA (tcgen05).
Models   Stores beside products: a persistent grid in which the part of a block behind its last product runs beside the
         next tile's products, for all tiles of an SM but the last; the demands on resources stay the same. Larger
         tiles: a block takes its neighbour's work, too, with twice the warps that multiply; data that both copied come
         once, shared memory delivers once what products of both read, and the number of blocks halves.
Omits    Instructions of a tile scheduler; whether a compiler finds registers for the sums.
"""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from warpbound.analysis.case import WARP, Case
from warpbound.analysis.multicast import LEAST, read_once, shared_copies
from warpbound.analysis.static import Work
from warpbound.analysis.timing import launch_of, times_of, warps_per_block
from warpbound.emulate.tensor_memory import COLUMNS
from warpbound.program.operand_reads import blocks_of, columns_read, left_factor_cycles, operand_cycles
from warpbound.program.tensor_memory_moves import columns_moved
from warpbound.residency import Residency, occupancy
from warpbound.result.what_if import WhatIf
from warpbound.whatif import WORTH
from warpbound.workload import Piece, Workload

BESIDE = "stores of a tile beside the products of the next (a persistent grid, two sets of sums in tensor memory)"
BESIDE_WHY = "stores behind the last product of each block take {share:.0f} % of the time"
LARGER = "tiles of two blocks along {axis} in one block{with_warps}"
LARGER_WHY = "{share:.0f} % of what a block copies, its neighbour along {axis} copies too: L2 is read once for both"
MULTIPLIES = ("warpgroup_matrix", "matrix")  # kinds of products whose sums are in registers
MOST_COLUMNS = 256  # most columns of a product (PTX ISA: wgmma, tcgen05.mma)
SECTORS_OF_A_WAVEFRONT = 4
QUARTERS = 4  # parts of the rows of tensor memory; a warp reaches one of them


def tile_changes(case: Case, work: Work) -> Iterator[WhatIf]:
    """Larger tiles and stores of one block beside the products of another, where they help."""
    if work.focus.warps is not None and case.blocks is not None and work.sample_run is not None:
        yield from _stores_beside(case, work)
        yield from _larger(case, work)


def _stores_beside(case: Case, work: Work) -> Iterator[WhatIf]:
    """Where a block waits for its last product before it stores, and an SM gets several blocks."""
    pieces, launch = work.focus.pieces, launch_of(case, work)
    tiles = ceil(launch.blocks_per_active_sm / launch.population)
    if tiles < 2 or not any(piece.behind_products for piece in pieces) or not 0 < 2 * _sums(case, work) <= COLUMNS:
        return
    changed = replace(work.focus, pieces=_joined(pieces), joins=work.focus.stops - 1.0)
    without = replace(work.focus, pieces=tuple(piece for piece in pieces if not piece.behind_products))
    times = times_of(case, work, [(each, case.place) for each in (work.focus, changed, without)])
    gain = times[0] / (times[0] - (1.0 - 1.0 / tiles) * (times[0] - times[1]))
    if gain >= WORTH:
        yield WhatIf(BESIDE, gain, BESIDE_WHY.format(share=100 * (1.0 - times[2] / times[0])))


def _joined(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """The longest piece before the last products and all pieces behind these, at the same time."""
    behind = [piece for piece in pieces if piece.behind_products]
    front = [piece for piece in pieces if not piece.behind_products]
    longest = max(front, key=lambda piece: piece.path + piece.waits)
    both = replace(
        longest,
        waits=max(longest.waits, sum(piece.waits for piece in behind)),
        path=max(longest.path, sum(piece.path for piece in behind)),
        phases=longest.phases + sum(piece.phases for piece in behind),
        demand={name: share + sum(piece.demand[name] for piece in behind) for name, share in longest.demand.items()},
    )
    return tuple(both if piece is longest else piece for piece in front)


def _sums(case: Case, work: Work) -> float:
    """Columns of tensor memory that a block's warps load, each a quarter of their rows."""
    assert work.sample_run is not None
    mbarrier_log = work.sample_run[0].mbarrier_log
    if mbarrier_log is None:
        return 0.0
    columns_of = {at: columns_moved(code) for at, code in enumerate(case.program.instructions) if code.opcode == "LDTM"}
    streams = zip(mbarrier_log.blocks, mbarrier_log.streams, strict=True)
    own = [stream for block, stream in streams if block == mbarrier_log.blocks[0]]
    return sum(float((stream == at).sum()) * columns for stream in own for at, columns in columns_of.items()) / QUARTERS


def _larger(case: Case, work: Work) -> Iterator[WhatIf]:
    """Along the axis with more to share, where registers, shared memory and tensor memory have room for both tiles."""
    both = shared_copies(case, work)
    if both is None or max(both.along_x, both.along_y) < LEAST:
        return
    share, axis = max((both.along_x, "x"), (both.along_y, "y"))
    more_warps, sums = _multiplying(case, work), _sums(case, work)
    stages_B = sum(row.stages * row.stage_bytes for row in work.pipelines()[0])
    more_B = round((1.0 - share) * stages_B)
    then = _residency(case, more_warps, more_B, ceil(sums))
    if not stages_B or not (more_warps or sums) or then is None or then.blocks_per_sm < 1:
        return
    place = replace(case.place, warps_per_block=2 * warps_per_block(case),
                    warps_per_sm=float(2 * warps_per_block(case) * then.blocks_per_sm))  # fmt: skip
    changed: Workload = _wider(case, _copied_once(work.focus, both.copied * share), share)
    before, after = times_of(case, work, [(work.focus, case.place), (changed, place)])
    if before / after >= WORTH:
        with_warps = f", with {more_warps} more warps that multiply" if more_warps else ""
        yield WhatIf(
            LARGER.format(axis=axis, with_warps=with_warps), before / after,
            LARGER_WHY.format(share=100 * share, axis=axis), shared_bytes=more_B, warps_per_sm=then.warps_per_sm,
        )  # fmt: skip


def _copied_once(work: Workload, shared: float) -> Workload:
    """The work if one block makes the copies of two: less is read from L2 and moved on the SM. shared :
    their share of all that L2 sends."""
    fewer = shared / 2 * work.memory.l2_sectors_read / SECTORS_OF_A_WAVEFRONT
    return read_once(work.with_memory(l1_wavefronts=max(0.0, work.memory.l1_wavefronts - fewer)), shared)


def _wider(case: Case, work: Workload, share: float) -> Workload:
    """With asynchronous products of twice the columns, for which shared memory delivers A once, not twice.

    share : of what a block copies, that its neighbour copies, too; where B is that part, or columns are as many as they
    can be, products stay as they are.
    """
    products = [code for code in case.program.instructions if operand_cycles(code) and code.traits.tensor]
    total, of_a = sum(map(operand_cycles, products)), sum(map(left_factor_cycles, products))
    most = max((columns_read(code) * blocks_of(code) for code in products), default=MOST_COLUMNS)
    if 2 * most > MOST_COLUMNS or abs(share - of_a / total) > abs(share - (1.0 - of_a / total)):
        return work
    operands = work.units.get("operands", 0.0) * (1.0 - of_a / total / 2.0)
    return replace(work, units={**work.units, "operands": operands})


def _multiplying(case: Case, work: Work) -> int:
    """Warps of a block whose sums are in registers."""
    assert work.sample_run is not None
    mbarrier_log = work.sample_run[0].mbarrier_log
    if mbarrier_log is None:
        return 0
    products = {at for at, code in enumerate(case.program.instructions) if code.traits.kind in MULTIPLIES}
    streams = zip(mbarrier_log.blocks, mbarrier_log.streams, strict=True)
    own = [set(stream.tolist()) for block, stream in streams if block == mbarrier_log.blocks[0]]
    return sum(bool(each & products) for each in own)


def _residency(case: Case, more_warps: int, more_B: int, sums: int) -> Residency | None:
    """Residency of blocks with this many more warps, bytes and columns of sums; None for impossible blocks."""
    threads, rules = case.threads_per_block + WARP * more_warps, case.gpu.limits
    columns = case.program.tensor_columns + sums
    assert case.launch is not None
    shared_B = case.program.shared_bytes + case.launch.smem + more_B
    if threads > rules.max_threads_per_block or shared_B > rules.max_shared_per_block or columns > COLUMNS:
        return None
    return occupancy(
        case.gpu, threads, case.program.registers, shared_B, case.launch.carveout, barriers=case.program.barriers,
        tensor_columns=columns, grid_blocks=ceil((case.blocks or 1) / 2),
    )  # fmt: skip
