"""The parameters of one GPU that the time model uses: fitted on the board, or taken from its relatives.

Source   gpus/*.toml. Where a board has no value: the mean of the calibrated boards with the same kind of memory
         (stacked memory from 9.0 on is a kind of its own); where no board of that kind has a value, the mean of all
         with stacked, or all with other memory. The cost of L2 writes is the mean of the boards whose L2 has as many
         sides. Times stay the same times, the tail of a latency stays in proportion to it, the interval between blocks
         stays the same cycles, capacities stay in proportion to the best rate of the board (at most its pin bandwidth).
         The two factors of on-chip waiting come from event simulations of deterministic servers, not from silicon.
Omits    differences between generations of graphics memory: both calibrated boards of that kind have GDDR6. How sure
         the values are: `parameter_uncertainty`.
"""

from collections.abc import Callable
from dataclasses import fields
from functools import cache

from warpbound.board_parameters import PARAMETERS
from warpbound.bounds import Real
from warpbound.identity_cache import remember
from warpbound.machine import Gpu, gpu
from warpbound.quick_dataclasses import dataclass
from warpbound.time_model.dram import Dram

RELATIVES = {  # boards whose streams were fitted, by their memory
    "HBM": ("v100-pcie", "a100-sxm-80gb"),
    "HBM of Hopper and later": ("h100-pcie", "gh200"),
    "GDDR": ("a40", "l40"),
}
ATOMIC_RATE = PARAMETERS["atomic_rate"].default
CALIBRATED = tuple(key for keys in RELATIVES.values() for key in keys)
NARROWEST_HBM = 1024  # bits of one stack; boards with GDDR have at most half of it
AMPERE, HOPPER = 80, 90
WARP_WAIT = 0.1    # waiting behind warps that come one by one: mean error 0.3 %, worst 1.4 % in simulations
BLOCK_WAIT = 0.7   # behind blocks whose warps come as one and share a pipe: mean error 0.8 %, worst 3.2 %


@dataclass(frozen=True)
class Parameters:
    """Parameters of one GPU in s, B/s and pure numbers; equations of the thesis use the symbols."""

    block_start: Real           # T0   [s]
    store_cost: Real            # S    [s]
    latency_spread: Real        # m/D  [1]
    dram_wait_read: Real        # b_r  [s]
    dram_wait_mixed: Real       # b_m  [s]
    dram_read_capacity: Real    # c_r  [B/s]
    dram_write_capacity: Real   # c_w  [B/s]
    dram_mix_cost: Real         # c_m  in units of 1 / pin bandwidth  [1]
    launch_gap: Real            #      from the end of one launch to the start of the next [s]
    block_interval: Real        #      from the start of one block to that of the next, whole chip [s]
    l2_write_cost: Real         #      of a sector written, in units of one read [1]
    dram_bandwidth: Real        # pin  [B/s]
    warp_wait: Real = WARP_WAIT    # kappa  [1]
    block_wait: Real = BLOCK_WAIT  # kappa between barriers  [1]
    l1_latency: Real = 1.0         # of the board's value, as all below; other than 1 to see what it makes  [1]
    l2_latency: Real = 1.0         #  [1]
    l2_far_latency: Real = 1.0     #  [1]
    dram_latency: Real = 1.0       #  [1]
    shared_latency: Real = 1.0     #  [1]
    l1_bandwidth: Real = 1.0       #  [1]
    l2_bandwidth: Real = 1.0       #  [1]
    l2_far_bandwidth: Real = 1.0   #  [1]
    l1_lookups: Real = 1.0         # cycles of L1 beyond those of its data path alone, of what addresses say  [1]
    atomic_rate: Real = ATOMIC_RATE    # steps on one line by L2  [1/cycle]

    @property
    def dram(self) -> Dram:
        """The parameters of device memory."""
        return Dram(
            self.dram_read_capacity, self.dram_write_capacity, self.dram_mix_cost, self.dram_bandwidth,
            self.dram_wait_read, self.dram_wait_mixed,
        )  # fmt: skip


@dataclass(frozen=True)
class FittedParameters:
    """Parameters of one GPU; assumed : names of those that no fit on this board gives."""

    values: Parameters
    assumed: tuple[str, ...]


VARIED = tuple(f.name for f in fields(Parameters) if f.name not in ("dram_bandwidth", "warp_wait", "block_wait"))
FITTED = tuple(name for name in VARIED if name in PARAMETERS and PARAMETERS[name].fallback == "relatives")


@remember(8)
def fitted_parameters(board: Gpu) -> FittedParameters:
    """The parameters of a board; what it lacks or only assumes comes from the calibrated boards."""
    own = {name: board.parameters[name] for name in FITTED if name in board.parameters}
    from_own_fit = {name: quantity.in_base_unit for name, quantity in own.items() if quantity.how != "assumed"}
    typed = {name: quantity.in_base_unit for name, quantity in own.items() if quantity.source == "command line"}
    values = {name: (from_own_fit | typed).get(name) or from_relatives(name, board) for name in FITTED}
    assumed = tuple(name for name in FITTED if name not in from_own_fit)
    atomics = board.get("atomic_rate") or ATOMIC_RATE
    return FittedParameters(
        Parameters(**values, dram_bandwidth=board.value("dram_bandwidth"), atomic_rate=atomics), assumed
    )


def from_relatives(name: str, board: Gpu) -> float:
    """A parameter that was not measured on this board, in base units."""
    parameter = PARAMETERS[name]
    if other := parameter.relatives_beyond:
        return board.value(other) - _mean(lambda b: b.value(other) - b.value(name), name, board)
    scaled = _mean(lambda b: b.value(name) / _scale(name, b), name, board) * _scale(name, board)
    return min(scaled, board.value(parameter.at_most)) if parameter.at_most else scaled


def _scale(name: str, board: Gpu) -> float:
    """The board value to which a parameter is proportional on boards of one kind."""
    per = PARAMETERS[name].relatives_per
    if per.startswith("1/"):
        return 1.0 / board.value(per.removeprefix("1/"))
    return board.value(per) if per else 1.0


def kind_of_memory(board: Gpu) -> str:
    """The key of RELATIVES for a board; GDDR where its file gives no bus."""
    if not stacked(board):
        return "GDDR"
    return "HBM of Hopper and later" if board.arch >= HOPPER else "HBM"


def stacked(board: Gpu) -> bool:
    """Whether the memory is HBM; False where its file gives no bus."""
    bus = board.get("dram_bus")
    return bus is not None and bus >= NARROWEST_HBM


def two_sides(board: Gpu) -> bool:
    """Whether L2 has a near and a far side: boards with stacked memory from 8.0 on, as measurements found."""
    return stacked(board) and board.arch >= AMPERE


_calibrated = cache(gpu)  # a fit asks for the same boards thousands of times


def relatives(name: str, board: Gpu) -> tuple[str, ...]:
    """Keys of the boards that a parameter comes from where this board has no value."""
    calibrated = tuple(key for key in CALIBRATED if name in _calibrated(key).parameters)
    if PARAMETERS[name].relatives_by == "sides of L2":
        return tuple(key for key in calibrated if two_sides(_calibrated(key)) == two_sides(board)) or calibrated
    near = tuple(key for key in calibrated if key in RELATIVES[kind_of_memory(board)])
    return near or tuple(key for key in calibrated if stacked(_calibrated(key)) == stacked(board)) or calibrated


def _mean(of: Callable[[Gpu], float], name: str, board: Gpu) -> float:
    values = [of(_calibrated(key)) for key in relatives(name, board)]
    return sum(values) / len(values)
