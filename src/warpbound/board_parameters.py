"""What may stand in the file of a board: the units, the parameters, and which of them change together."""

from dataclasses import dataclass

UNITS: dict[str, float] = {  # unit -> factor to its base unit
    "1": 1.0,
    "cycle": 1.0,
    "B": 1.0,
    "KiB": 1024.0,
    "MiB": 1024.0**2,
    "GiB": 1024.0**3,
    "bit": 1.0,
    "Gbit/s": 1e9,
    "GB/s": 1e9,
    "TB/s": 1e12,
    "GFLOP/s": 1e9,
    "TFLOP/s": 1e12,
    "B/cycle/SM": 1.0,
    "FMA/cycle/SM": 1.0,
    "Hz": 1.0,
    "MHz": 1e6,
    "GHz": 1e9,
    "s": 1.0,
    "us": 1e-6,
    "ns": 1e-9,
    "W": 1.0,
}

SMALLEST, LARGEST = 1e-9, 1e15  # that can be set, in a parameter's unit: beyond, sums lose what is not absurd
LEAST = {"sm_count": 1.0, "memory_partitions": 1.0, "partition_width": 1.0}  # of what is counted

HOW = ("vendor", "measured", "published", "assumed")


@dataclass(frozen=True)
class Parameter:
    """What a parameter means, the units it may be given in (the first is the usual one), and from
    which architecture on (sm number) a board must give it; None: it may always be left out."""

    meaning: str
    units: tuple[str, ...]
    required_from: int | None = None


_TIME, _CLOCK, _RATE = ("ns", "us", "s"), ("MHz", "GHz", "Hz"), ("GB/s", "TB/s")
_SIZE, _TENSOR, _CYCLES = ("MiB", "KiB", "GiB", "B"), ("FMA/cycle/SM",), ("cycle",)

PARAMETERS: dict[str, Parameter] = {
    "sm_count": Parameter("streaming multiprocessors", ("1",), 10),
    "base_clock": Parameter("guaranteed SM clock", _CLOCK),
    "boost_clock": Parameter("SM clock that the vendor's peak rates use", _CLOCK, 10),
    "dram_size": Parameter("device memory", ("GiB", "MiB"), 10),
    "dram_bus": Parameter("width of the memory bus", ("bit",)),
    "dram_data_rate": Parameter("data rate of one pin", ("Gbit/s",)),
    "dram_bandwidth": Parameter("pin bandwidth of device memory", _RATE, 10),
    "dram_achievable_bandwidth": Parameter("best measured read or copy rate", _RATE, 10),
    "dram_latency": Parameter("unloaded load latency, in cycles at latency_clock", ("cycle",), 10),
    "latency_clock": Parameter("SM clock at which the latencies hold", _CLOCK, 10),
    "l2_size": Parameter("L2 cache", _SIZE, 20),
    "l2_reach": Parameter("share of an L2 of one side that holds different data; 1 where not given", ("1",)),
    "l2_bandwidth": Parameter("L2 read rate of the chip, at boost unless noted", _RATE, 20),
    "l2_shared_read_bandwidth": Parameter("of lines that all SMs ask for at once; l2_bandwidth if absent", _RATE),
    "l2_far_bandwidth": Parameter("of lines that the reader's side of L2 lacks; l2_bandwidth if absent", _RATE),
    "l2_latency": Parameter("unloaded latency of a hit in the near L2", ("cycle",), 20),
    "l2_far_latency": Parameter("unloaded latency of a hit in the far L2 partition", ("cycle",)),
    "l1_latency": Parameter("unloaded latency of an L1 hit", ("cycle",), 20),
    "l1_lead_reach": Parameter(
        "data of an SM, in sizes of its L1, up to which older warps run ahead; 1 where not given", ("1",)
    ),
    "l1_bandwidth": Parameter("L1 read rate", ("B/cycle/SM",), 20),
    "shared_latency": Parameter("unloaded shared-memory load latency", ("cycle",), 10),
    "tensor_fp16": Parameter("dense FP16 products, FP32 sums", _TENSOR),
    "tensor_fp16_acc16": Parameter("dense FP16 products, FP16 sums", _TENSOR),
    "tensor_bf16": Parameter("dense BF16 products, FP32 sums", _TENSOR),
    "tensor_tf32": Parameter("dense TF32 products, FP32 sums", _TENSOR),
    "tensor_fp8": Parameter("dense FP8 products, FP32 sums", _TENSOR),
    "tensor_int8": Parameter("dense INT8 products, INT32 sums", _TENSOR),
    "tensor_fp64": Parameter("dense FP64 products and sums", _TENSOR),
    "launch_cost": Parameter("time of one empty kernel in a queue of them", _TIME, 10),
    "block_start": Parameter("time to start and end one block", _TIME, 10),
    "launch_gap": Parameter("time from the end of one kernel in a queue to the start of the next", _TIME),
    "block_interval": Parameter("time from the start of one block to that of the next, on the whole chip", _TIME),
    "l2_write_cost": Parameter("time of L2 for a sector written, in units of one read", ("1",)),
    "store_cost": Parameter("time that a block stays longer because it stores", _TIME),
    "latency_spread": Parameter("scale of the tail of a load's latency, as a share of that latency", ("1",)),
    "dram_wait_read": Parameter("waiting of a load phase when reads take half of their capacity", _TIME),
    "dram_wait_mixed": Parameter("the same, added by as many bytes written as read", _TIME),
    "dram_read_capacity": Parameter("rate that reads alone approach under load", _RATE),
    "dram_write_capacity": Parameter("rate that writes alone approach under load", _RATE),
    "dram_mix_cost": Parameter("time per byte that an even mixture adds, in units of 1 / pin bandwidth", ("1",)),
    "tdp": Parameter("power limit of the board", ("W",)),
    "fp32_peak": Parameter("FP32 peak as printed, one FMA counting as two", ("TFLOP/s", "GFLOP/s")),
    "alu_latency": Parameter("latency of an FP32 add, where a paper states one for its machine", ("cycle",)),
    "departure_delay_coalesced": Parameter("Hong and Kim's Departure_del_coal", ("cycle",)),
    "departure_delay_uncoalesced": Parameter("Hong and Kim's Departure_del_uncoal", ("cycle",)),
    "miss_registers": Parameter("misses that one SM can have outstanding (MSHRs)", ("1",)),
    "fp64_lanes": Parameter("FP64 lanes of one SM, where they are not its architecture's", ("1",)),
    "fma_lanes": Parameter("FP32 lanes of one SM; before 7.0 for integers too", ("1",)),
    "alu_lanes": Parameter("integer and logic lanes of one SM, from 7.0 on", ("1",)),
    "xu_lanes": Parameter("lanes of one SM for square roots, sines and the like", ("1",)),
    "lsu_lanes": Parameter("threads whose address the load/store unit of one SM takes in a cycle", ("1",)),
    "issue_width": Parameter("warp instructions that one SM can issue in a cycle", ("1",)),
    "uniform_width": Parameter("uniform instructions that one SM can take in a cycle, from 7.0 on", ("1",)),
    "xu_latency": Parameter("latency of square roots, sines and the like", _CYCLES),
    "fp64_latency": Parameter("latency of an FP64 multiply-add", _CYCLES),
    "uniform_latency": Parameter("latency of a uniform instruction", _CYCLES),
    "tensor_latency": Parameter("latency of a product HMMA.16816, those of other shapes and types alike", _CYCLES),
    "shuffle_latency": Parameter("latency of a shuffle", _CYCLES),
    "special_register_latency": Parameter("latency of reading a special register", _CYCLES),
    "reduction_latency": Parameter("latency of REDUX, that of MATCH in proportion", _CYCLES),
    "barrier_latency": Parameter("latency of a barrier that all have reached, of a cluster's in proportion", _CYCLES),
    "fence_latency": Parameter("latency of MEMBAR.GPU, those of other fences in proportion", _CYCLES),
    "constant_latency": Parameter("latency of a load from constant memory", _CYCLES),
    "matrix_load_latency": Parameter("latency of LDSM, of one matrix", _CYCLES),
    "shared_atomic_latency": Parameter("latency of an atomic in shared memory", _CYCLES),
    "copy_latency": Parameter("least latency of LDGSTS, from global to shared memory", _CYCLES),
    "wide_load_cost": Parameter("cycles that a load of 128 bits a thread takes longer than of 32", _CYCLES),
    "uniform_address_lead": Parameter("cycles that a load comes sooner by an address in uniform registers", _CYCLES),
    "operand_read_latency": Parameter("cycles until a load has read its address, others in proportion", _CYCLES),
    "scoreboard_latency": Parameter("cycles until a raised scoreboard is seen", _CYCLES),
    "issue_gap": Parameter("cycles between two instructions of a warp, where tables say them, before 7.0", _CYCLES),
    "reissue_cost": Parameter("issue slots of each transaction beyond the first ones, before 7.0", ("1",)),
    "store_piece_cost": Parameter("cycles of an SM for each piece of a line that it stores, from 7.0 on", _CYCLES),
    "atomic_rate": Parameter("updates of one line that L2 does in a cycle", ("1",)),
    "memory_partitions": Parameter("memory partitions that addresses are interleaved over", ("1",)),
    "partition_width": Parameter("consecutive bytes in one memory partition", ("B",)),
}

_LOADED = ("dram_read_capacity", "dram_write_capacity")
CARRIED: dict[str, tuple[str, ...]] = {  # rates that change with another one
    "dram_bus": ("dram_bandwidth", "dram_achievable_bandwidth", *_LOADED),
    "dram_data_rate": ("dram_bandwidth", "dram_achievable_bandwidth", *_LOADED),
    "dram_bandwidth": ("dram_achievable_bandwidth", *_LOADED),
    "dram_achievable_bandwidth": _LOADED,
    "l2_bandwidth": ("l2_shared_read_bandwidth", "l2_far_bandwidth"),
}

STAND_INS: dict[str, str] = {  # parameter -> the one whose value answers take where a board has none of its own
    "l2_shared_read_bandwidth": "l2_bandwidth",
    "l2_far_bandwidth": "l2_bandwidth",
    "l2_far_latency": "l2_latency",
    "tensor_fp16_acc16": "tensor_fp16",
    "tensor_bf16": "tensor_fp16",
    "tensor_tf32": "tensor_fp16",
    "tensor_fp8": "tensor_fp16",
    "tensor_int8": "tensor_fp16",
    "tensor_fp64": "tensor_fp16",
}
ONE_IF_ABSENT = {"l2_reach": "l2_size", "l1_lead_reach": "l1_latency"}  # -> what a board must have that it be of use
NOT_ASKED_FOR = (  # where a board has none, no answer needs one; `--set` gives it one all the same
    "base_clock", "dram_size", "dram_bus", "dram_data_rate", "tdp", "fp32_peak", "tensor_fp16",
    "departure_delay_coalesced", "departure_delay_uncoalesced", "memory_partitions", "partition_width",
)  # fmt: skip
