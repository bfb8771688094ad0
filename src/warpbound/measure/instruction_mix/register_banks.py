"""FFMA whose three sources share a register bank in a way that the compiler cannot avoid, and FFMA without conflicts.

A register's bank is the parity of its number since Volta. Vector loads fix the banks of the constants: a (words 0 of
four) are even, b (words 1) odd. Every x is multiplied twice, with two of a and with two of b, so that one of the two
FFMA has all its sources in one bank wherever x lies; in the other kernel each FFMA has one of a and one of b.
"""

from warpbound.measure.kernel_text import timed_kernel, unrolled

BANKS = {"banks_same": ("a", "b"), "banks_mixed": ("b", "a")}  # kernel -> partner of a, partner of b
VECTORS = 8
CHAINS = 4
TURNS = 10  # written out, each with three FFMA of every chain
TIMES = 4
BANKS_REPEATED = 3 * CHAINS * TURNS * TIMES
CONFLICTING = 1 / 3  # share of the FFMA of banks_same; tests count it in the machine code of every architecture
REUSED = {86: 0.183, 89: 0.183}  # the same where the compiler finds an order that reuses an operand
LANE_B, VECTOR_B = 16, 512


def conflicting(arch: int) -> float:
    """Share of the FFMA of banks_same whose sources share a bank; code of the next older architecture counts."""
    return REUSED.get(max((row for row in (80, *REUSED, 90) if row <= arch), default=arch), CONFLICTING)


def bank_kernel(name: str, operands: str) -> str:
    """Source of one of BANKS. operands : parameters of the kernel."""
    parts = [f"{part}{i}" for i in range(VECTORS) for part in "abcd"]
    outputs = [", ".join(f'"=f"({part}{i})' for part in "abcd") for i in range(VECTORS)]
    load = 'asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"'
    loads = "".join(f'{load} : {out} : "r"(mine + {VECTOR_B * i}));\n    ' for i, out in enumerate(outputs))
    chains = "".join(f"float x{j} = words[threadIdx.x & {j + 31}], u{j}, v{j}; " for j in range(CHAINS))
    setup = f"""__shared__ __align__(16) float words[{VECTORS * VECTOR_B // 4}];
    for (int i = threadIdx.x; i < {VECTORS * VECTOR_B // 4}; i += blockDim.x) words[i] = __uint_as_float(one);
    __syncthreads();
    u32 mine = (u32)__cvta_generic_to_shared(words) + {LANE_B} * (threadIdx.x & 31);
    float {", ".join(parts)};
    {loads}{chains}"""
    result = " + ".join([f"x{j}" for j in range(CHAINS)]) + " + " + " + ".join(parts)
    return timed_kernel(name, operands, setup, unrolled(TIMES, _turns(*BANKS[name])), f"__float_as_uint({result})")


def _turns(with_a: str, with_b: str) -> str:
    """The first products of all chains, then the second ones, then their sums."""
    text = ""
    for turn in range(TURNS):
        first = [(3 * turn + j) % VECTORS for j in range(CHAINS)]
        second = [(vector + VECTORS // 2) % VECTORS for vector in first]
        text += "".join(_fma(f"u{j}", f"x{j}", f"a{first[j]}", f"{with_a}{second[j]}") for j in range(CHAINS))
        text += "".join(_fma(f"v{j}", f"x{j}", f"b{first[j]}", f"{with_b}{second[j]}") for j in range(CHAINS))
        text += "".join(_fma(f"x{j}", f"u{j}", f"v{j}", f"c{first[j]}") for j in range(CHAINS))
    return text


def _fma(to: str, x: str, y: str, z: str) -> str:
    return f' asm volatile("fma.rn.f32 %0, %1, %2, %3;" : "=f"({to}) : "f"({x}), "f"({y}), "f"({z}));'
