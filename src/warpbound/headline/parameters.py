"""What the headline prediction knows of a GPU, fitted or taken from its relatives; how sure it is: `doubts`.

Source   gpus/*.toml. Where a board has no value: the mean of the calibrated boards with the same kind of memory, those
         from 9.0 on apart where it is stacked; of stacked or of all where none of these has one. What writes cost L2 is
         the mean of those whose L2 has as many sides. Times are the same times, spreads in proportion to latency, the
         interval between blocks the same cycles, capacities in proportion to the best rate that the board reaches (but
         never more than its pins carry). The two factors of on-chip waiting come from event simulations of
         deterministic servers, not from silicon.
Omits    differences between generations of graphics memory: both calibrated boards of that kind have GDDR6.
"""

from collections.abc import Callable
from dataclasses import dataclass

from warpbound.bounds import Real
from warpbound.headline.dram import Dram
from warpbound.machine import Gpu, gpu

RELATIVES = {  # boards whose streams were fitted, by their memory
    "HBM": ("v100-pcie", "a100-sxm-80gb"),
    "HBM of Hopper and later": ("h100-pcie", "gh200"),
    "GDDR": ("a40", "l40"),
}
CALIBRATED = tuple(key for keys in RELATIVES.values() for key in keys)
NARROWEST_HBM = 1024  # bits of one stack; boards with GDDR have at most half of it
AMPERE, HOPPER = 80, 90
WARP_WAIT = 0.1    # waiting behind warps that come one by one: mean error 0.3 %, worst 1.4 % in simulations
ATOMICS = 1.08     # integers added at one address: RTX 3080 1.076, 3060 Ti 1.094, 2060 1.056 (`counts-of-zeros`)
BLOCK_WAIT = 0.7   # behind blocks whose warps come as one and share a pipe: mean error 0.8 %, worst 3.2 %


@dataclass(frozen=True)
class Parameters:
    """One GPU's; s, B/s and pure numbers."""

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
    atomic_rate: Real = ATOMICS    # steps on one line by L2  [1/cycle]

    @property
    def dram(self) -> Dram:
        """The part that is about device memory."""
        return Dram(
            self.dram_read_capacity, self.dram_write_capacity, self.dram_mix_cost, self.dram_bandwidth,
            self.dram_wait_read, self.dram_wait_mixed,
        )  # fmt: skip


@dataclass(frozen=True)
class Known:
    """Parameters of one GPU and the names of those that are its relatives'."""

    values: Parameters
    assumed: tuple[str, ...]


FITTED = ("block_start", "store_cost", "latency_spread", "dram_wait_read", "dram_wait_mixed", "dram_read_capacity",
          "dram_write_capacity", "dram_mix_cost", "launch_gap", "block_interval", "l2_write_cost")  # fmt: skip
SCALED = ("l1_latency", "l2_latency", "l2_far_latency", "dram_latency", "shared_latency", "l1_bandwidth",
          "l2_bandwidth", "l2_far_bandwidth", "l1_lookups", "atomic_rate")  # fmt: skip
OF_L2 = ("l2_write_cost",)  # which goes by the sides of L2, not by the memory behind it
CAPACITIES = ("dram_read_capacity", "dram_write_capacity")
_PER: dict[str, Callable[[Gpu], float]] = {  # parameter -> what it is proportional to; a time or a number otherwise
    "dram_read_capacity": lambda board: board.value("dram_achievable_bandwidth"),
    "dram_write_capacity": lambda board: board.value("dram_achievable_bandwidth"),
    "block_interval": lambda board: 1.0 / board.value("boost_clock"),
}


def known(board: Gpu) -> Known:
    """The parameters of a board; what it lacks or only assumes comes from the calibrated boards."""
    own = {name: board.parameters[name] for name in FITTED if name in board.parameters}
    firm = {name: quantity.in_base_unit for name, quantity in own.items() if quantity.how != "assumed"}
    typed = {name: quantity.in_base_unit for name, quantity in own.items() if quantity.source == "command line"}
    values = {name: (firm | typed).get(name) or from_relatives(name, board) for name in FITTED}
    assumed = tuple(name for name in FITTED if name not in firm)
    atomics = board.get("atomic_rate") or ATOMICS
    return Known(Parameters(**values, dram_bandwidth=board.value("dram_bandwidth"), atomic_rate=atomics), assumed)


def from_relatives(name: str, board: Gpu) -> float:
    """A parameter that was not measured on this board."""
    if name == "launch_gap":  # the launch path is the host's and the front end's: what a kernel adds is the same
        return board.value("launch_cost") - _mean(lambda b: b.value("launch_cost") - b.value(name), name, board)
    per = _PER.get(name, _one)
    scaled = _mean(lambda b: b.value(name) / per(b), name, board) * per(board)
    return min(scaled, board.value("dram_bandwidth")) if name in CAPACITIES else scaled


def kind_of_memory(board: Gpu) -> str:
    """The key of RELATIVES for a board; GDDR where the bus is not known."""
    if not stacked(board):
        return "GDDR"
    return "HBM of Hopper and later" if board.arch >= HOPPER else "HBM"


def stacked(board: Gpu) -> bool:
    """Whether the memory is HBM; GDDR where the bus is not known."""
    bus = board.get("dram_bus")
    return bus is not None and bus >= NARROWEST_HBM


def two_sides(board: Gpu) -> bool:
    """Whether L2 has a near and a far side: with stacked memory from 8.0 on, as where that was measured."""
    return stacked(board) and board.arch >= AMPERE


def _one(_: Gpu) -> float:
    return 1.0


def relatives(name: str, board: Gpu) -> tuple[str, ...]:
    """Boards that a parameter is taken from where this one has none."""
    having = tuple(key for key in CALIBRATED if name in gpu(key).parameters)
    if name in OF_L2:
        return tuple(key for key in having if two_sides(gpu(key)) == two_sides(board)) or having
    near = tuple(key for key in having if key in RELATIVES[kind_of_memory(board)])
    return near or tuple(key for key in having if stacked(gpu(key)) == stacked(board)) or having


def _mean(of: Callable[[Gpu], float], name: str, board: Gpu) -> float:
    values = [of(gpu(key)) for key in relatives(name, board)]
    return sum(values) / len(values)
