"""A random program as CUDA C++ for the device, and as C++ for the host, where threads come one after the other."""

from pathlib import Path

from support.random_programs.operations import SCALARS
from support.random_programs.pieces import TOGETHER, Piece, RandomProgram, Step

HERE = Path(__file__).parent
ARRAYS = {
    "words": "const u32", "floats": "const f32", "doubles": "const f64", "halves": "const u16", "bytes": "const u8",
    "mine8": "u8", "mine16": "u16", "mine32": "u32", "mine64": "u64", "sums": "u64", "out": "u64",
}  # fmt: skip
_SUMMED = ("Add", "Min", "Max", "And", "Or", "Xor", "times", "counted")
SUMS = [f"{name}_{kind}" for name in _SUMMED for kind in ("u32", "s32", "u64")]
SHARED = ("u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64")
FIRST = {"f32": "m.floats[{} & 255]", "f64": "m.doubles[{} & 255]"} | dict.fromkeys(("f16", "bf"), "m.halves[{} & 255]")
SHOWN = {"f16": "h_bits", "h2": "h2_bits", "bf": "b_bits", "b2": "b2_bits"}
TABLES = f"""
CONSTANT u32 table[64] = {{ {", ".join(f"{pow(2654435761, i + 1, 2**32)}u" for i in range(64))} }};
CONSTANT u8 letters[32] = {{ 3, 1, 4, 1, 5, 9, 2, 6, 5, 35, 8, 97, 93, 238, 46, 26, 43, 38, 32, 79, 50, 28, 84, 197 }};
CONSTANT s16 steps[16] = {{ 1, -1, 2, -2, 300, -300, 32767, -32768, 0, 77, -77, 1000, -4096, 15, 16, 17 }};
CONSTANT f64 scales[8] = {{ 1.0, -0.5, 1e300, 5e-324, 3.0, 0.1, -1e-310, 4503599627370497.5 }};
"""


def header(name: str) -> str:
    """One of the headers beside this file."""
    return (HERE / f"random_{name}.h").read_text("utf-8")


def device_text(program: RandomProgram) -> str:
    first = {"f16": "#define HALVES\n", "bf": "#define BFLOATS\n", "": ""}[program.halves]
    parameters = ", ".join(f"{kind}* {name}" for name, kind in ARRAYS.items())
    parameters += "".join(f", {kind} {name}" for name, kind in SCALARS.items())
    lines = [
        first + header("on_device"), _between(program), f'extern "C" __global__ void random_program({parameters})',
        "{ __shared__ Shared sh; const u32 tid = threadIdx.x, group = blockIdx.x, groups = gridDim.x;",
        "const u32 all_threads = blockDim.x * gridDim.x;",
        _memory({name: name for name in (*ARRAYS, *SCALARS)}), "Vars v; start(v, m, sh, tid); BARRIER;",
    ]  # fmt: skip
    for order, step in enumerate(program.steps):
        lines.append(_question(step) if step.asked else f"step{order}(v, m, sh, tid); BARRIER;")
    return "\n".join([*lines, "finish(v, m, sh, tid); }\n"])


def host_text(program: RandomProgram) -> str:
    threads = program.threads
    casts = {name: f"({kind}*)arrays[{i}]" for i, (name, kind) in enumerate(ARRAYS.items())}
    casts |= {name: f"*({kind}*)arrays[{i}]" for i, (name, kind) in enumerate(SCALARS.items(), len(ARRAYS))}
    each = f"for (u32 tid = 0; tid < {threads}; tid++) {{ Vars& v = all[tid]; {_memory(casts)} "
    lines = [
        header("on_host"), header("halves"), header("warps"), _between(program),
        'extern "C" void judge(void** arrays, u32 groups)', "{ for (u32 group = 0; group < groups; group++) {",
        f"const u32 all_threads = groups * {threads}; static Vars all[{threads}];",
        "Shared sh; memset(&sh, 0, sizeof sh);",
        each + "start(v, m, sh, tid); }",
    ]  # fmt: skip
    for order, step in enumerate(program.steps):
        lines.append(_replayed(step, each, threads) if step.asked else each + f"step{order}(v, m, sh, tid); }}")
    return "\n".join([*lines, each + "finish(v, m, sh, tid); } } }\n"])


def _between(program: RandomProgram) -> str:
    """What both texts have in common."""
    sums = " ".join(f"{one.split('_')[1]}* {one};" for one in SUMS)
    arrays = " ".join(f"{kind}* {name};" for name, kind in ARRAYS.items())
    arrays += " ".join(f"{kind} {name};" for name, kind in SCALARS.items())
    signature = "(Vars& v, const Mem& m, Shared& sh, const u32 tid)"
    lines = [
        header("meaning"), header("ptx"), TABLES, f"struct Mem {{ {arrays} {sums} u64 thread, threads; u32 group; }};",
        "struct Shared { u32 Add[8], fixed[32], own[8 * 96]; u64 owned[96];",
        f"{' '.join(f'{kind} {kind}s[96];' for kind in SHARED)} }};",
        f"struct Vars {{ {' '.join(f'{kind} {name[2:]};' for name, kind in program.variables)} }};",
        *map(str, program.functions), f"FN void start{signature} {{ if (tid < 8) sh.Add[tid] = 0;",
        "if (tid < 32) sh.fixed[tid] = m.words[tid + 77];",
        "for (u32 i = 0; i < 8; i++) sh.own[8 * tid + i] = i; sh.owned[tid] = m.thread;",
    ]  # fmt: skip
    first = "m.group * 9" if program.alike else "m.thread * 5"
    for i, (name, kind) in enumerate(program.variables):
        lines.append(f"{name} = ({kind}){FIRST.get(kind, 'm.words[{} & 1023]').format(f'({first} + {37 * i})')};")
    lines.append("}")
    for order, step in enumerate(program.steps):
        if not step.asked:
            lines.append(f"FN void step{order}{signature}\n{{ {step.body} }}")
    lines.append(f"FN void finish{signature} {{ {program.variables[-2][0]} ^= sh.Add[tid & 7];")
    for i, (name, kind) in enumerate(program.variables):
        place = f"m.out[m.thread * {len(program.variables)} + {i}]"
        lines.append(f"{place} = {f'{SHOWN[kind]}({name})' if kind in SHOWN else f'shown({name})'};")
    return "\n".join([*lines, "}"])


def _memory(names: dict[str, str]) -> str:
    values = [*names.values(), *(f"({one.split('_')[1]}*)({names['sums']} + {8 * i})" for i, one in enumerate(SUMS))]
    return f"const Mem m = {{ {', '.join(values)}, (u64)group * (all_threads / groups) + tid, all_threads, group }};"


def _question(step: Step) -> str:
    if step.asked == TOGETHER:
        name, value = _words(step)
        return f"{name} = together({value});"
    name, value, number, kind = _words(step)
    call = f"{name} = {step.asked}({{}}, ({kind})({value}), {number}, {step.width});"
    if isinstance(step.lanes, Piece):
        asked = call.format("who")
        return f"{{ const bool q = {step.lanes}; const u32 who = __ballot_sync(~0u, q); if (q) {asked} }}"
    call = call.format(f"{step.lanes:#x}u")
    return call if step.lanes == 0xFFFFFFFF else f"if ({step.lanes:#x}u >> (tid & 31) & 1) {call}"


def _replayed(step: Step, each: str, threads: int) -> str:
    if step.asked == TOGETHER:
        name, value = _words(step)
        counted = f"u32 count = 0; {each} count += (bool)({value}); }}"
        return f"{{ {counted} {each} {name} = together(count, {threads}); }} }}"
    name, value, number, kind = _words(step)
    lanes = str(step.lanes) if isinstance(step.lanes, Piece) else f"{step.lanes:#x}u >> (tid & 31) & 1"
    call = f"{step.asked}(Lanes{{who[w], (int)tid & 31}}, x + 32 * w, n + 32 * w, {step.width})"
    return (
        f"{{ {kind} x[{threads}]; u32 n[{threads}], who[{threads // 32}] = {{}};\n"
        f"{each} x[tid] = {value}; n[tid] = {number}; who[tid / 32] |= (u32)(bool)({lanes}) << (tid & 31); }}\n"
        f"{each} const u32 w = tid / 32; if (who[w] >> (tid & 31) & 1) {name} = {call}; }} }}"
    )


def _words(step: Step) -> list[str]:
    """What to assign to, the value, the number with it, the value's type."""
    return str(step.body).split("|?|")
