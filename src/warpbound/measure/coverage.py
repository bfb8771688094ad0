"""Which of the catalogue's parameters a run can give, and why the others are not among them."""

from collections.abc import Iterator

from warpbound.isa.latency_classes import NUMBERS
from warpbound.machine import PARAMETERS

DRIVER = "the driver"
FROM: dict[str, tuple[str, ...]] = {  # parameter -> folders, the one to believe first
    "sm_count": (DRIVER,), "boost_clock": (DRIVER,), "dram_size": (DRIVER,), "dram_bus": (DRIVER,),
    "dram_data_rate": (DRIVER,), "dram_bandwidth": (DRIVER,), "l2_size": (DRIVER,),
    "dram_achievable_bandwidth": ("stream",),
    "dram_latency": ("pointer_chase",), "latency_clock": ("pointer_chase",), "l2_latency": ("pointer_chase",),
    "l2_far_latency": ("pointer_chase",), "l1_latency": ("pointer_chase",),
    "l2_reach": ("cache_bandwidth",), "l2_bandwidth": ("cache_bandwidth",),
    "l2_shared_read_bandwidth": ("cache_bandwidth",), "l2_far_bandwidth": ("cache_bandwidth", "l2_partitions"),
    "l1_lead_reach": ("cache_bandwidth",),
    "l1_bandwidth": ("cache_bandwidth",), "l2_write_cost": ("cache_bandwidth",),
    "shared_latency": ("instruction_mix",), "alu_latency": ("instruction_mix",), "fp64_lanes": ("instruction_mix",),
    "tensor_fp16": ("wgmma", "instruction_mix"),
    "launch_cost": ("launch",), "launch_gap": ("launch",), "block_interval": ("launch",),
    "block_start": ("stream", "launch"), "store_cost": ("stream", "launch"),
    "latency_spread": ("stream", "pointer_chase"), "dram_wait_read": ("stream",), "dram_wait_mixed": ("stream",),
    "dram_read_capacity": ("stream",), "dram_write_capacity": ("stream",), "dram_mix_cost": ("stream",),
    "departure_delay_coalesced": ("hong_kim",), "departure_delay_uncoalesced": ("hong_kim",),
}  # fmt: skip
_OTHER_PRODUCTS = "no kernel of this type yet; the vendor's rate stands in a fixed ratio to that of FP16"
_WIDTH = "the architecture's, isa/families.toml; to be set for machines that do not exist"
_LATENCY = "the architecture's, isa/families.toml and isa/latencies.toml; to be set for machines that do not exist"
_EARLY = "the architecture's, isa/timings.toml; to be set for machines that do not exist"
WITHOUT: dict[str, str] = {
    "base_clock": "the vendor's promise; no clock that is observed shows it",
    "tdp": "the vendor's limit; the power observed is in the raw files",
    "fp32_peak": "as printed by the vendor; the measured peak of FFMA is on the page",
    "tensor_fp16_acc16": _OTHER_PRODUCTS, "tensor_bf16": _OTHER_PRODUCTS, "tensor_tf32": _OTHER_PRODUCTS,
    "tensor_fp8": _OTHER_PRODUCTS, "tensor_int8": _OTHER_PRODUCTS, "tensor_fp64": _OTHER_PRODUCTS,
    "miss_registers": "of machines without a chase over many warps; latency_spread and loaded latency take its place",
    "memory_partitions": "addresses are hashed since Fermi; `camping` would show where they are not",
    "partition_width": "as memory_partitions",
    "fma_lanes": _WIDTH, "alu_lanes": _WIDTH, "xu_lanes": _WIDTH, "lsu_lanes": _WIDTH, "issue_width": _WIDTH,
    "uniform_width": _WIDTH,
    **{name: _LATENCY for name in NUMBERS if name not in FROM},
    "issue_gap": _EARLY, "reissue_cost": _EARLY,
    "atomic_rate": "from published histograms on an RTX 3080, 3060 Ti and 2060, headline/parameters.py",
    "store_piece_cost": "from published times of transposes on an RTX 3090, workload/records.py",
}  # fmt: skip


def table() -> Iterator[str]:
    """Markdown, in the catalogue's order."""
    yield "| parameter | measured by, or why not |"
    yield "|---|---|"
    for name in PARAMETERS:
        given = ", then ".join(one if one == DRIVER else f"`{one}`" for one in FROM.get(name, ()))
        yield f"| `{name}` | {given or 'not measured: ' + WITHOUT[name]} |"
