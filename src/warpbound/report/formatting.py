"""Numbers and names as people read them."""

from collections.abc import Sequence

RESOURCE_WORDS = {
    "latency": "latency",
    "issue": "instruction issue",
    "fetch": "instruction fetch",
    "registers": "the bank of registers read more",
    "alu": "the ALU pipe",
    "fma": "the FMA pipe",
    "fp64": "the FP64 pipe",
    "xu": "the XU pipe (special functions)",
    "tensor": "the tensor pipe",
    "tmem": "tensor memory",
    "uniform": "the uniform pipe",
    "lsu": "the load/store unit",
    "shared": "shared memory",
    "l1": "the L1 data path",
    "l2": "L2 bandwidth",
    "dram": "DRAM bandwidth",
    "launch": "launching kernel and blocks",
}
CAUSE_WORDS = {
    "issue": "issuing its own instructions",
    "fixed": "waiting for arithmetic results",
    "shared": "waiting for shared memory",
    "constant": "waiting for constants and parameters",
    "l1": "waiting for L1",
    "l2": "waiting for L2",
    "dram": "waiting for DRAM",
    "barrier": "barriers",
    "start": "starting and ending the block",
}
STALL_WORDS = {
    "selected": "it issues",
    "not selected": "ready, another warp issues",
    "wait": "for arithmetic, fixed latency",
    "math pipe throttle": "for a busy pipe",
    "mio throttle": "for the shared-memory queue",
    "lg throttle": "for the queue to L1",
    "short scoreboard": "for shared memory or XU",
    "long scoreboard": "for global or local memory",
    "imc miss": "for constants, parameters",
    "no instruction": "for instructions",
    "barrier": "for other warps of the block",
    "block replacement": "for blocks to start and end",
}
LONG_NAME = 60  # letters of a kernel's name, above which a table shortens it
_RATES = ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"))
_PREFIXES = ((1e9, "G"), (1e6, "M"), (1e3, "k"))
_SMALL = ((1.0, ""), (1e-3, "m"), (1e-6, "u"), (1e-9, "n"))


def amount(value: float | None) -> str:
    """Three significant digits, with k, M or G from ten thousand on; a dash where there is no number."""
    if value is None:
        return "-"
    if abs(value) >= 1e4:
        for size, letter in _PREFIXES:
            if abs(value) >= size:
                return f"{value / size:.3g} {letter}"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def flops(value: float) -> str:
    """A rate of arithmetic, three significant digits: `18.2 Tflop/s`."""
    size, letter = next((rate for rate in _RATES if abs(value) >= rate[0]), _RATES[-1])
    return f"{amount(value / size)} {letter}flop/s"


def seconds(value: float | None) -> str:
    """A time in the unit that keeps it between 1 and 1000; a dash where there is none."""
    return _small(value, "s")


def joules(value: float | None) -> str:
    """An energy in the unit that keeps it between 1 and 1000; a dash where there is none."""
    return _small(value, "J")


def _small(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    size, letter = next((step for step in _SMALL if value >= step[0]), _SMALL[-1])
    return f"{value / size:.3g} {letter}{unit}"


def resource_words(name: str | None) -> str:
    """A resource as a reader calls it; a name of a model's own stays."""
    return RESOURCE_WORDS.get(name or "", name or "-")


def count(number: int, noun: str) -> str:
    """`1 block`, `2 blocks`, `no blocks`, `2 launches`."""
    plural = "es" if noun.endswith(("ch", "sh", "s", "x")) else "s"
    return f"{number or 'no'} {noun}{'' if number == 1 else plural}"


def listed(words: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else "nothing"


def capital(words: str) -> str:
    """The words with a capital first letter, the rest as it is."""
    return words[:1].upper() + words[1:]


def kernel_labels(names: Sequence[str]) -> list[str]:
    """Names of kernels for a table: of a long one, as templates of libraries have, no namespaces and no arguments.

    `cub::detail::DeviceReduceKernel<cub::policy_hub<float>, ...>` is `DeviceReduceKernel<...>`, the next kernel
    of that label `DeviceReduceKernel<...> (2)`.
    """
    labels: dict[str, str] = {}
    for name in names:
        if name in labels:
            continue
        label = _without_arguments(name) if len(name) > LONG_NAME else name
        alike = sum(each == label or each.startswith(f"{label} (") for each in labels.values())
        labels[name] = f"{label} ({alike + 1})" if alike else label
    return [labels[name] for name in names]


def _without_arguments(name: str) -> str:
    plain, bracket, _ = name.partition("<")
    return plain.rpartition("::")[2] + ("<...>" if bracket else "")
