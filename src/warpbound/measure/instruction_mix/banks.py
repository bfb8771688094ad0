"""FFMA whose three sources share a register bank, which the compiler is left no way to avoid, and the same without.

A register's bank is the parity of its number since Volta. Vector loads fix the banks of the constants: a (words 0 of
four) are even, b (words 1) odd. Every x is multiplied twice, with two of a and with two of b, so that one of the two
FFMA has all its sources in one bank wherever x lies; in the other kernel each FFMA has one of a and one of b.
"""

from warpbound.measure.instruction_mix.loop import around

BANKS = {"banks_same": ("a", "b"), "banks_mixed": ("b", "a")}  # kernel -> what goes with a, what goes with b
VECTORS = 8
CHAINS = 4
TURNS = 10  # written out, each with three FFMA of every chain
TIMES = 4
BANKS_REPEATED = 3 * CHAINS * TURNS * TIMES
CONFLICTING = 1 / 3  # of banks_same; tests count it in the machine code of every architecture
KEPT = {86: 0.183, 89: 0.183}  # architectures where the compiler finds an order in which an operand is kept, and then
LANE_B, VECTOR_B = 16, 512


def conflicting(arch: int) -> float:
    """Share of the FFMA of banks_same whose sources meet in one bank; code of the next older architecture serves."""
    return KEPT.get(max((one for one in (80, *KEPT, 90) if one <= arch), default=arch), CONFLICTING)


def bank_kernel(name: str) -> str:
    """Its source."""
    indices = range(VECTORS)
    parts = [("a", "b", "c", "d")] * VECTORS
    get = "".join(
        f'    asm volatile("ld.volatile.shared.v4.f32 {{%0, %1, %2, %3}}, [%4];" : {_each(i, "=f")} : '
        f'"r"(mine + {VECTOR_B * i}));\n' for i in indices
    )  # fmt: skip
    ahead = f"""    __shared__ __align__(16) float words[{VECTORS * VECTOR_B // 4}];
    for (int i = threadIdx.x; i < {VECTORS * VECTOR_B // 4}; i += blockDim.x) words[i] = __uint_as_float(one);
    __syncthreads();
    u32 mine = (u32)__cvta_generic_to_shared(words) + {LANE_B} * (threadIdx.x & 31);
    float {", ".join(f"{part}{i}" for i, row in enumerate(parts) for part in row)};
{get}"""
    ahead += "".join(f"    float x{j} = words[threadIdx.x & {j + 31}], u{j}, v{j};\n" for j in range(CHAINS))
    kept = " + ".join(f"{part}{i}" for i, row in enumerate(parts) for part in row)
    seen = f"__float_as_uint({' + '.join(f'x{j}' for j in range(CHAINS))} + {kept})"
    return around(name, ahead, _turns(*BANKS[name]), TIMES, seen)


def _each(vector: int, constraint: str) -> str:
    return ", ".join(f'"{constraint}"({part}{vector})' for part in "abcd")


def _turns(with_a: str, with_b: str) -> str:
    """All chains' first products, then their second ones, then both joined."""
    text = ""
    for turn in range(TURNS):
        at = [(3 * turn + j) % VECTORS for j in range(CHAINS)]
        later = [(one + VECTORS // 2) % VECTORS for one in at]
        text += "".join(_fma(f"u{j}", f"x{j}", f"a{at[j]}", f"{with_a}{later[j]}") for j in range(CHAINS))
        text += "".join(_fma(f"v{j}", f"x{j}", f"b{at[j]}", f"{with_b}{later[j]}") for j in range(CHAINS))
        text += "".join(_fma(f"x{j}", f"u{j}", f"v{j}", f"c{at[j]}") for j in range(CHAINS))
    return text


def _fma(to: str, x: str, y: str, z: str) -> str:
    return f' asm volatile("fma.rn.f32 %0, %1, %2, %3;" : "=f"({to}) : "f"({x}), "f"({y}), "f"({z}));'
