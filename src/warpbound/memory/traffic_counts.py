"""Traffic of a launch: totals for reports and models, and the same by instruction."""

import numpy as np
from numpy.typing import NDArray

from warpbound.memory.counters import COUNTERS, Memory
from warpbound.memory.reuse import Locality
from warpbound.quick_dataclasses import dataclass

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class PerInstruction:
    """Whole launch, by instruction of the program, shape (instructions,) each.

    requests : warp instructions with an active lane. sectors : through L1, loads, stores and atomics.
    ideal_sectors : as many as would hold the distinct bytes. l1_wavefronts : cycles of the L1; l1_narrow : further
    ones where it hands over 64 bytes per cycle. store_pieces : lines of which a store or atomic has one sector.
    shared_wavefronts, shared_conflict_wavefronts : cycles of shared memory, and those that bank conflicts cost.
    atomic_steps : lanes on the address that most lanes share, summed over the requests.
    sectors_from : loaded sectors answered by L1, L2, DRAM, (instructions, 3).
    requests_from : loads whose slowest sector came from there, (instructions, 3).
    waits_from : the same of what they wait for, (instructions, 3): a hit on a line under way waits for the miss.
    far_share : of the loaded sectors that L2 answers, those that are not on the reader's side; 0 where it answers none.
    """

    requests: Reals
    sectors: Reals
    ideal_sectors: Reals
    l1_wavefronts: Reals
    l1_narrow: Reals
    store_pieces: Reals
    shared_wavefronts: Reals
    shared_conflict_wavefronts: Reals
    atomic_steps: Reals
    sectors_from: Reals
    requests_from: Reals
    waits_from: Reals
    far_share: Reals


@dataclass(frozen=True)
class Errors:
    """Standard errors, each in the unit of what has its name in Traffic; all 0 where nothing was extrapolated."""

    l1_hit_rate: float = 0.0
    l2_sectors_read: float = 0.0
    l2_hit_rate: float = 0.0
    dram_bytes_read: float = 0.0
    dram_bytes_written: float = 0.0


@dataclass(frozen=True)
class Traffic:
    """Whole launch. Requests in warp instructions, sectors of 32 bytes, wavefronts in cycles of one SM's pipe.

    global_* : global memory only; l1_sectors_*, l1_wavefronts, l1_narrow, store_pieces : global and local together.
    copied_wavefronts : of l1_wavefronts, those of copies by the copy engine.
    l1_hit_rate : of loaded sectors. l1_repeat_rate : the same in an L1 of unlimited size.
    l2_hit_rate : of all sectors that reach L2; a stored sector is never
    fetched and counts as a hit. l2_sectors_atomic : beside those read and written. Of those read: l2_sectors_led,
    where L1 hits as far as older warps run ahead; l2_sectors_together, what all SMs ask for at once;
    l2_sectors_far, those that an L2 of two sides has only on the other side, or gets from DRAM for all SMs at once.
    l2_sectors_cut : of those written, the sectors of which a store changes only a part.
    dram_bytes_written : with cold caches including what is still in L2 at the end (left_in_l2_bytes).
    shared_conflict_wavefronts : what bank conflicts cost. atomic_steps : lanes on one address, one after the other.
    uncoalesced_* : global loads and stores of more sectors than their bytes need.
    touched_bytes : footprint of the launch. pages : 2 MiB pages the sampled blocks touched.
    locality : the X-model's curve for one warp. scale : grid blocks per sampled block. sampling_error : standard
    error of the scaled counts as a fraction; None where too few blocks were sampled to tell. errors : of what
    caches and DRAM do; None where they were not asked for, or too few blocks were sampled.
    """

    global_load_requests: float
    global_store_requests: float
    global_atomic_requests: float
    local_load_requests: float
    local_store_requests: float
    texture_requests: float
    l1_sectors_load: float
    l1_sectors_store: float
    l1_wavefronts: float
    l1_narrow: float
    store_pieces: float
    copied_wavefronts: float
    ideal_sectors: float
    sectors_per_request: float | None
    l2_sectors_read: float
    l2_sectors_led: float
    l2_sectors_together: float
    l2_sectors_far: float
    l2_sectors_cut: float
    l2_sectors_written: float
    l2_sectors_atomic: float
    local_sectors: float
    dram_bytes_read: float
    dram_bytes_written: float
    left_in_l2_bytes: float
    l1_hit_rate: float | None
    l1_repeat_rate: float | None
    l2_hit_rate: float | None
    shared_load_requests: float
    shared_store_requests: float
    shared_wavefronts_load: float
    shared_wavefronts_store: float
    shared_wavefronts_atomic: float
    shared_conflict_wavefronts: float
    atomic_steps: float
    touched_bytes: float
    pages: int
    locality: Locality
    scale: float
    sampling_error: float | None
    by_instruction: PerInstruction
    notes: tuple[str, ...]
    errors: Errors | None = None
    uncoalesced_requests: float = 0.0
    uncoalesced_sectors: float = 0.0


def launch_memory(traffic: Traffic) -> Memory:
    """The counters of the launch that models read: stores include atomics."""
    same = {name: getattr(traffic, name) for name in COUNTERS if hasattr(traffic, name)}
    return Memory(**same | {
        "global_store_requests": traffic.global_store_requests + traffic.global_atomic_requests,
        "l2_sectors_written": traffic.l2_sectors_written + traffic.l2_sectors_atomic,
        "local_requests": traffic.local_load_requests + traffic.local_store_requests,
    })  # fmt: skip
