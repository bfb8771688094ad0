"""Products of a warp, one instruction of PTX each: sparse, of 4, 6 and 8 bits, with scales. Lanes get their registers
from arrays in the order of the lanes, so that every kernel is one product."""

from collections.abc import Callable, Iterator

import numpy as np

from instruction_corpus.cases import Case
from warpbound.kernel_launch import launch
from warpbound.machine import Gpu
from warpbound.program import compile_program
from warpbound.python_kernels.launches import Prepared

ROWS, COLUMNS, LANES = 16, 8, 32
FLOATS = {  # bits of exponent and fraction, bias
    "e4m3": (4, 3, 7), "e5m2": (5, 2, 15), "e3m2": (3, 2, 3), "e2m3": (2, 3, 1), "e2m1": (2, 1, 1),
}  # fmt: skip
FROM_80, FROM_89, WORKSTATION = (80, 86, 89, 90, 100, 120), (89, 120), (120,)
SPARSE = "mma.sp::ordered_metadata.sync.aligned.{shape}.row.col.{kinds}"


def decoded(codes: np.ndarray, kind: str) -> np.ndarray:
    """Numbers of a small format."""
    exponent_bits, fraction_bits, bias = FLOATS[kind]
    fraction = (codes & (1 << fraction_bits) - 1) / 2.0**fraction_bits
    exponent = codes >> fraction_bits & (1 << exponent_bits) - 1
    sign = np.where(codes >> exponent_bits + fraction_bits & 1, -1.0, 1.0)
    return sign * np.where(exponent == 0, fraction * 2.0 ** (1 - bias), (1 + fraction) * 2.0 ** (exponent - bias))


def registers(codes: np.ndarray, bits: int) -> np.ndarray:
    """Rows of codes as lanes hold them: lane 4 g + t has neighbours of row g (+ 8) from column t * 32 / bits on."""
    per = 32 // bits
    words = np.zeros((len(codes), codes.shape[1] // per), np.uint32)
    for place in range(per):
        words |= codes[:, place::per].astype(np.uint32) << np.uint32(bits * place)
    tall, wide = len(codes) // 8, words.shape[1] // 4
    return words.reshape(tall, 8, wide, 4).transpose(1, 3, 2, 0).reshape(LANES, wide * tall).copy()


def metadata(codes: np.ndarray, bits: int, selector: int) -> np.ndarray:
    """Codes of 4 bits, (rows, chunks), as the lanes give them."""
    words = [0] * LANES
    for row in range(ROWS):
        for place, code in enumerate(codes[row].tolist()):
            group, lower = row % 8, row // 8
            if bits >= 16:
                giving = codes.shape[1] // 4
                words[4 * group + giving * selector + place // 4] |= code << 4 * (place % 4) + 16 * lower
            else:
                giving = codes.shape[1] // 4
                words[4 * group + giving * selector + lower + 2 * (place // 8)] |= code << 4 * (place % 8)
    return np.array(words, np.uint32)


def halved(dense: np.ndarray, bits: int, numbers: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A factor with half of its numbers dropped, what is kept of it, and the codes of 4 bits that say which."""
    chunk = {4: 8, 8: 4, 16: 4, 32: 2}[bits]
    together = max(1, chunk // 4)
    kept, codes, left = [], [], np.zeros_like(dense)
    for row in range(ROWS):
        for first in range(0, dense.shape[1], chunk):
            some = sorted(numbers.choice(chunk // together, 1 if bits == 32 else 2, replace=False).tolist())
            codes.append((0b0100, 0b1110)[some[0]] if bits == 32 else some[0] | some[1] << 2)
            for place in some:
                at = slice(first + together * place, first + together * (place + 1))
                left[row, at] = dense[row, at]
                kept.extend(dense[row, at].tolist())
    return left, np.array(kept, dense.dtype).reshape(ROWS, -1), np.array(codes).reshape(ROWS, -1)


def cases() -> Iterator[Case]:
    """All of them."""
    for kinds, bits, shape, selector in (
        ("f32.f16.f16.f32", 16, "m16n8k32", 1), ("f32.f16.f16.f32", 16, "m16n8k16", 3),
        ("f32.bf16.bf16.f32", 16, "m16n8k32", 0), ("f32.tf32.tf32.f32", 32, "m16n8k16", 1),
        ("f32.tf32.tf32.f32", 32, "m16n8k8", 2), ("s32.s8.s8.s32", 8, "m16n8k32", 1),
        ("s32.s8.s8.s32", 8, "m16n8k64", 0), ("s32.s4.s4.s32", 4, "m16n8k128", 0), ("s32.s4.s4.s32", 4, "m16n8k64", 1),
    ):  # fmt: skip
        yield sparse(kinds, bits, shape, selector, FROM_80 if bits > 4 else (80, 86, 89))
    yield sparse("f32.e4m3.e4m3.f32", 8, "m16n8k64", 0, FROM_89)
    for first, second in (("e3m2", "e2m3"), ("e2m1", "e4m3"), ("e2m3", "e2m1")):
        yield scaled(first, second, "", 32)
        yield scaled(first, second, "ue8m0", 32)
    yield scaled("e4m3", "e5m2", "ue8m0", 32, places=(3, 1, 2, 3))
    yield scaled("e2m1", "e2m1", "ue8m0", 64)
    yield scaled("e2m1", "e2m1", "ue4m3", 64)


def sparse(kinds: str, bits: int, shape: str, selector: int, architectures: tuple[int, ...]) -> Case:
    """D = A B with half of A kept."""
    numbers = np.random.default_rng(bits)
    depth, kind = int(shape.rpartition("k")[2]), kinds.split(".")[1]
    encode, value = _coding(kind, numbers)
    a, b = encode((ROWS, depth)), encode((COLUMNS, depth))
    left, kept, codes = halved(a, bits, numbers)
    arrays = [registers(kept, bits), registers(b, bits), metadata(codes, bits, selector)[:, None]]
    line = f'{SPARSE.format(shape=shape, kinds=kinds)} {{d}}, {{a}}, {{b}}, {{d}}, {{e}}, {selector:#x};'
    dropped = np.where(left == 0, 0.0, value(left))
    return _case(f"sparse {kind} {shape}", line, arrays, dropped @ value(b).T, architectures)


def scaled(first: str, second: str, scales: str, depth: int, places: tuple[int, int, int, int] = (0, 0, 0, 0)) -> Case:
    """D = A B of small floats; scales : their type, or none; places : byte and lane that have those of A, then of B."""
    numbers = np.random.default_rng(depth)
    wide = depth == 32  # numbers of 8, 6 and 4 bits lie in bytes
    a, b = (
        numbers.integers(0, 0x58 if kind[1] in "45" else 1 << 1 + int(kind[1]) + int(kind[3]), (count, depth))
        for kind, count in ((first, ROWS), (second, COLUMNS))
    )
    held = [codes << 2 if wide and kind == "e2m1" else codes for codes, kind in ((a, first), (b, second))]
    arrays = [registers(each, 8 if wide else 4) for each in held]
    exact = [decoded(a, first), decoded(b, second)]
    kind = "f8f6f4" if wide else "mxf4nvf4" if scales == "ue4m3" else "mxf4"
    vector = {"": "", "ue8m0": f".block_scale.scale_vec::{depth // 32}X", "ue4m3": ".block_scale.scale_vec::4X"}[scales]
    line = f"mma.sync.aligned.m16n8k{depth}.row.col.kind::{'mx' * bool(wide and scales)}{kind}{vector}"
    line += f".f32.{first}.{second}.f32{'.' * bool(scales)}{scales} {{d}}, {{a}}, {{b}}, {{d}}"
    if scales:
        block = 16 if scales == "ue4m3" else 32
        for order, count in enumerate((ROWS, COLUMNS)):
            codes = numbers.integers(0x30, 0x48, (count, depth // block))
            codes = codes if scales == "ue4m3" else codes + 64
            factors = decoded(codes, "e4m3") if scales == "ue4m3" else 2.0 ** (codes - 127.0)
            exact[order] = exact[order] * np.repeat(factors, block, axis=1)
            byte, lane = places[2 * order : 2 * order + 2]
            arrays.append(_scale_words(codes, byte, lane, order))
            line += f", {{{'ef'[order]}}}, {{{{{byte}, {lane}}}}}"
    name = f"product {first} {second} {scales or 'unscaled'}"
    return _case(name, line + ";", arrays, exact[0] @ exact[1].T, WORKSTATION)


def _scale_words(codes: np.ndarray, byte: int, lane: int, order: int) -> np.ndarray:
    words = np.zeros((LANES, 1), np.uint32)
    for row, own in enumerate(codes.tolist()):
        at = 4 * (row % 8) + (lane if order else 2 * lane + row // 8)
        words[at] = sum(code << 8 * (byte + place) for place, code in enumerate(own))
    return words


def _coding(kind: str, numbers: np.random.Generator) -> tuple[Callable[..., np.ndarray], Callable[..., np.ndarray]]:
    """Random codes of a shape, and what numbers codes are."""
    if kind[0] == "s":
        bits = int(kind[1:])
        top = 1 << bits
        return (
            lambda shape: numbers.integers(1, top, shape),
            lambda codes: np.where(codes < top // 2, codes, codes - top).astype(float),
        )
    if kind in FLOATS:
        return (lambda shape: numbers.integers(1, 0x58, shape)), (lambda codes: decoded(codes, kind))
    if kind == "f16":
        return (
            lambda shape: numbers.standard_normal(shape).astype(np.float16).view(np.uint16),
            lambda codes: codes.view(np.float16).astype(float),
        )
    clear = np.uint32(0xFFFF0000 if kind == "bf16" else 0xFFFFE000)
    shift = np.uint32(16 if kind == "bf16" else 0)
    return (
        lambda shape: (numbers.standard_normal(shape).astype(np.float32).view(np.uint32) & clear) >> shift,
        lambda codes: (codes << shift).view(np.float32).astype(float),
    )


def _case(
    name: str, line: str, arrays: list[np.ndarray], expected: np.ndarray, architectures: tuple[int, ...]
) -> Case:
    """The kernel of one instruction; arrays : registers of A and B, then further ones."""
    counts = [4, *(each.shape[1] for each in arrays)]
    parts, first = [], 0
    for count in counts:
        parts.append([f"%{first + i}" for i in range(count)])
        first += count
    groups = ["{" + ", ".join(part) + "}" for part in parts]
    scales = ".block_scale" in line
    further = {
        letter: "{" + part[0] + "}" if scales else part[0] for letter, part in zip("ef", parts[3:], strict=False)
    }
    text = line.format(d=groups[0], a=groups[1], b=groups[2], **further)
    values = [f'"r"(x{order}[{count} * lane + {i}])' for order, count in enumerate(counts[1:]) for i in range(count)]
    letter, kind, dtype = ("r", "int", np.int32) if ".s32" in line else ("f", "float", np.float32)
    parameters = "".join(f"const unsigned *x{order}, " for order in range(len(arrays)))
    source = f"""extern "C" __global__ void product({parameters}{kind} *out) {{
    int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    {kind} d[4] = {{0, 0, 0, 0}};
    asm("{text}" : {", ".join(f'"+{letter}"(d[{i}])' for i in range(4))} : {", ".join(values)});
    for (int i = 0; i < 4; i++) out[(g + 8 * (i / 2)) * 8 + 2 * t + i % 2] = d[i];
}}"""
    args = {f"x{order}": each for order, each in enumerate(arrays)} | {"out": np.zeros((ROWS, COLUMNS), dtype)}

    def prepare(board: Gpu) -> Prepared:
        return Prepared(compile_program(source, board, compiler="nvrtc"), launch(grid=1, block=LANES, args=args))

    return Case("NVRTC", name, prepare, {"out": expected}, 1e-6, architectures)
