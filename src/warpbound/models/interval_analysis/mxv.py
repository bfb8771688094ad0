"""Matrix times vector three ways, in closed form.

Source   Lecture notes "Interval Analysis", MXV-LCS (K_0), MXV-(LC)*S (K_1) and mxv_o_per_thd.
Models   L of one vector, exact to `scoreboard` on the assumed code, its data and instructions.  The
         notes' conditions N >= L_F and L_M >= N/4 should read M >= L_F and L_M >= 4 N; here both
         cases are in the formula, and `load_compute_store_as_published` is theirs.  The notes
         let a store issue in 4 cycles, 2 or 1; it is a parameter.  `extra` instructions add to
         latency and issue, once (the K20 solution adds them to issue only, and the loads twice).
Omits    bank and constant-cache conflicts, index arithmetic unless counted as extra.
"""

import numpy as np

from warpbound.bounds import Real
from warpbound.quick_dataclasses import dataclass

ELEMENT_BYTES = 4.0
REQUEST_BYTES = 32.0  # a miss brings the neighbours that the next loads hit in L2


@dataclass(frozen=True)
class Kernel:
    """Matrix and device; issue cycles are 32 over the lanes of a scheduler."""

    rows: Real                  # M                       [1]
    columns: Real               # N                       [1]
    load_latency: Real          # L_M                     [cycle]
    fp_latency: Real            # L_F                     [cycle]
    l2_latency: Real = 200.0    # L_2, (LC)*S only        [cycle]
    load_cycles: Real = 4.0     # issue of a load         [cycle]
    fma_cycles: Real = 1.0      # issue of a multiply-add [cycle]
    store_cycles: Real = 4.0    # issue of a store        [cycle]
    extra: Real = 0.0           # other instructions      [inst]


def load_compute_store(x: Kernel) -> Real:
    """L(K_0), cycles: all loads, all multiply-adds, all stores."""
    loads = np.multiply(x.load_cycles, x.columns)
    column = np.maximum(np.multiply(x.fma_cycles, x.rows), x.fp_latency)            # eq. MXV-LCS
    first = np.maximum(x.load_latency, loads)                                       # eq. MXV-LCS
    paced = first + np.subtract(x.columns, 1.0) * column                            # eq. MXV-LCS
    fed = x.load_latency + loads - x.load_cycles                                    # eq. MXV-LCS
    return _stored(x, np.maximum(paced, fed)) + x.extra


def load_compute_store_as_published(x: Kernel) -> Real:
    """The same for M >= L_F and L_M >= load_cycles N, with or without that."""
    computing = np.multiply(x.fma_cycles, x.rows) * x.columns                       # eq. MXV-LCS
    return x.load_latency + computing + np.multiply(x.store_cycles, x.rows) + x.extra  # eq. MXV-LCS


def load_compute_repeated_store(x: Kernel) -> Real:
    """L(K_1), cycles: each load is waited for and used before the next."""
    missing = ELEMENT_BYTES / REQUEST_BYTES                                         # eq. Level 2 Cache
    waiting = missing * x.load_latency + (1.0 - missing) * x.l2_latency             # eq. (LC)*S
    column = np.multiply(x.fma_cycles, x.rows)
    before = x.columns * waiting + np.subtract(x.columns, 1.0) * column             # eq. (LC)*S
    return _stored(x, before) + x.extra


def per_thread(x: Kernel) -> Real:
    """L of mxv_o_per_thd, cycles: one row to a thread, its multiply-adds in a chain."""
    one_row = Kernel(
        1.0, x.columns, x.load_latency, x.fp_latency,
        x.l2_latency, x.load_cycles, x.fma_cycles, x.store_cycles, x.extra,
    )
    return load_compute_store(one_row)                                              # eq. per-thd


def data(x: Kernel) -> Real:
    """d, B per thread and vector of K_0 and K_1."""
    return ELEMENT_BYTES * np.add(x.rows, x.columns)                                # eq. Data Limit


def data_per_thread(x: Kernel) -> Real:
    """d, B per thread of mxv_o_per_thd, where M threads load the same vector."""
    return ELEMENT_BYTES * (np.divide(x.columns, x.rows) + 1.0)                     # eq. per-thd


def insts(x: Kernel) -> dict[str, Real]:
    """n_IF and n_IM of K_0 and K_1, instructions per thread."""
    return {
        "fp": np.multiply(x.rows, x.columns) + x.extra,   # eq. Instruction Limit
        "memory": np.add(x.rows, x.columns),              # eq. Instruction Limit
    }


def insts_per_thread(x: Kernel) -> dict[str, Real]:
    """The same of mxv_o_per_thd."""
    return {
        "fp": np.add(x.columns, x.extra),   # eq. per-thd
        "memory": np.add(x.columns, 1.0),   # eq. per-thd
    }


def insts_beyond_fma(insts_per_fma: Real, x: Kernel) -> Real:
    """Instructions that a profiler counts beyond multiply-adds."""
    return np.multiply(x.rows, x.columns) * np.subtract(insts_per_fma, 1.0)         # eq. CC 6.1


def extra_insts(insts_per_fma: Real, x: Kernel) -> Real:
    """Those of them that are no loads or stores either."""
    return insts_beyond_fma(insts_per_fma, x) - np.add(x.rows, x.columns)           # eq. CC 6.1


def size_needing_fewest_threads(load_latency: Real, fma_cycles: Real = 1.0) -> Real:
    """N of the square matrix for which K_0 needs least P; a real number."""
    return np.sqrt(np.divide(load_latency, fma_cycles))                             # eq. Matrix Size


def _stored(x: Kernel, last_column: Real) -> Real:
    """End of the stores, when the last column's multiply-adds begin at `last_column`."""
    column = np.multiply(x.fma_cycles, x.rows)
    start = last_column + np.maximum(column, x.fp_latency)                          # eq. MXV-LCS
    stores = np.multiply(x.store_cycles, x.rows)
    datum = last_column + column - x.fma_cycles + x.fp_latency + x.store_cycles     # eq. MXV-LCS
    return np.maximum(start + stores, datum)                                        # eq. MXV-LCS
