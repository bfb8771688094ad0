"""Kernels of Warp."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import warp as wp

from instruction_corpus.cases import Case
from warpbound.warp_lang import prepare

N, TILE = 500, wp.constant(16)


@wp.kernel
def scale_and_add(x: wp.array(dtype=float), y: wp.array(dtype=float), a: float, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = a * x[i] + y[i]


@wp.kernel
def functions(x: wp.array(dtype=float), y: wp.array(dtype=float), a: float, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.sin(x[i]) + wp.exp(-y[i]) * wp.sqrt(x[i]) / (y[i] + a)


@wp.kernel
def logarithms(x: wp.array(dtype=float), y: wp.array(dtype=float), a: float, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.log(x[i]) * wp.pow(y[i], a)


@wp.kernel
def clamped(x: wp.array(dtype=float), y: wp.array(dtype=float), a: float, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.clamp(x[i], wp.min(y[i], a), wp.max(y[i], a))


@wp.kernel
def branches(x: wp.array(dtype=float), y: wp.array(dtype=float), a: float, out: wp.array(dtype=float)):
    i = wp.tid()
    if x[i] > y[i]:
        out[i] = x[i] * a
    else:
        out[i] = wp.floor(y[i]) + wp.abs(x[i])


@wp.kernel
def in_double(x: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    out[i] = wp.sin(x[i]) / (x[i] + wp.float64(1.0))


@wp.kernel
def in_half(x: wp.array(dtype=wp.float16), out: wp.array(dtype=wp.float16)):
    i = wp.tid()
    out[i] = x[i] + x[i]


@wp.kernel
def integers(x: wp.array(dtype=int), out: wp.array(dtype=int)):
    i = wp.tid()
    out[i] = (x[i] * 7 + x[i] / 3 - x[i] % 5) ^ (x[i] >> 2)


@wp.kernel
def box(x: wp.array2d(dtype=float), width: int, out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    total = wp.float32(0.0)
    for d in range(width):
        total += x[i, (j + d) % x.shape[1]]
    out[i, j] = total


@wp.kernel
def lengths(v: wp.array(dtype=wp.vec3), m: wp.mat33, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.length(m * v[i])


@wp.kernel
def crossed(v: wp.array(dtype=wp.vec3), w: wp.array(dtype=wp.vec3), out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    out[i] = wp.cross(v[i], w[i]) * wp.dot(v[i], w[i])


@wp.kernel
def rotated(v: wp.array(dtype=wp.vec3), angle: float, out: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    out[i] = wp.quat_rotate(wp.quat_from_axis_angle(wp.vec3(0.0, 0.0, 1.0), angle), v[i])


@wp.kernel
def determinants(m: wp.array(dtype=wp.mat33), out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.determinant(m[i])


@wp.kernel
def counted(x: wp.array(dtype=int), out: wp.array(dtype=int)):
    wp.atomic_add(out, x[wp.tid()] % 16, 1)


@wp.kernel
def smallest(x: wp.array(dtype=float), out: wp.array(dtype=float)):
    wp.atomic_min(out, 0, x[wp.tid()])


@wp.kernel(grid_stride=False)
def without_loop(x: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64)):
    wp.atomic_add(out, 0, x[wp.tid()])


@wp.kernel
def springs(x: wp.array(dtype=wp.vec3), pairs: wp.array2d(dtype=int), force: wp.array(dtype=wp.vec3)):
    i = wp.tid()
    a, b = pairs[i, 0], pairs[i, 1]
    d = x[b] - x[a]
    f = d * (wp.length(d) - 1.0)
    wp.atomic_add(force, a, f)
    wp.atomic_add(force, b, -f)


@wp.kernel
def generic(x: wp.array(dtype=Any), out: wp.array(dtype=Any)):
    i = wp.tid()
    out[i] = x[i] + x[i]


@wp.kernel
def tile_product(a: wp.array2d(dtype=float), b: wp.array2d(dtype=float), out: wp.array2d(dtype=float)):
    i, j = wp.tid()
    total = wp.tile_zeros(shape=(TILE, TILE), dtype=wp.float32)
    for k in range(a.shape[1] / TILE):
        left = wp.tile_load(a, shape=(TILE, TILE), offset=(i * TILE, k * TILE))
        right = wp.tile_load(b, shape=(TILE, TILE), offset=(k * TILE, j * TILE))
        wp.tile_matmul(left, right, total)
    wp.tile_store(out, total, offset=(i * TILE, j * TILE))


@wp.kernel
def tile_sums(x: wp.array2d(dtype=float), out: wp.array(dtype=float)):
    i, _ = wp.tid()
    row = wp.tile_load(x[i], shape=64)
    wp.tile_store(out, wp.tile_sum(row), offset=i)


@wp.struct
class Particle:
    """A struct in an array."""

    place: wp.vec3
    mass: wp.float32
    kind: wp.int16


@wp.kernel
def moved(particles: wp.array(dtype=Particle), step: wp.float32, out: wp.array(dtype=Particle)):
    """Arrays of structs."""
    i = wp.tid()
    own = particles[i]
    own.place = own.place + step * wp.vec3(own.mass, 1.0, 2.0)
    own.kind = own.kind + wp.int16(1)
    out[i] = own


def cases() -> Iterator[Case]:
    """All of them."""
    numbers = np.random.default_rng(2)
    x, y = (numbers.uniform(0.5, 3, N).astype(np.float32) for _ in range(2))
    a = np.float32(1.5)
    for kernel, expected in (
        (scale_and_add, a * x + y),
        (functions, np.sin(x) + np.exp(-y) * np.sqrt(x) / (y + a)),
        (logarithms, np.log(x) * np.power(y, a)),
        (clamped, np.clip(x, np.minimum(y, a), np.maximum(y, a))),
        (branches, np.where(x > y, x * a, np.floor(y) + np.abs(x))),
    ):
        yield _case(kernel, N, (x, y, a, np.zeros_like(x)), expected, 1e-5)
    z = x.astype(np.float64)
    yield _case(in_double, N, (z, np.zeros_like(z)), np.sin(z) / (z + 1), 1e-14)
    h = x.astype(np.float16)
    yield _case(in_half, N, (h, np.zeros_like(h)), h + h)
    whole = numbers.integers(1, 1000, N, dtype=np.int32)
    yield _case(integers, N, (whole, np.zeros_like(whole)), (whole * 7 + whole // 3 - whole % 5) ^ (whole >> 2))
    image = numbers.random((37, 50), dtype=np.float32)
    summed = image + np.roll(image, -1, 1) + np.roll(image, -2, 1)
    yield _case(box, (37, 50), (image, 3, np.zeros_like(image)), summed, 1e-6)
    v, w = numbers.random((2, 100, 3), dtype=np.float32)
    m = numbers.random((3, 3), dtype=np.float32)
    scalars = np.zeros(100, np.float32)
    yield _case(lengths, 100, (v, m, scalars), np.linalg.norm(v @ m.T, axis=1), 1e-6)
    yield _case(crossed, 100, (v, w, np.zeros_like(v)), np.cross(v, w) * (v * w).sum(1, keepdims=True), 1e-6)
    turn = np.array([[np.cos(0.3), -np.sin(0.3), 0], [np.sin(0.3), np.cos(0.3), 0], [0, 0, 1]])
    yield _case(rotated, 100, (v, 0.3, np.zeros_like(v)), v @ turn.T, 1e-6)
    matrices = numbers.random((100, 3, 3), dtype=np.float32)
    yield _case(determinants, 100, (matrices, scalars), np.linalg.det(matrices), 1e-6)
    yield _case(counted, N, (whole, np.zeros(16, np.int32)), np.bincount(whole % 16, minlength=16))
    yield _case(smallest, N, (x, np.full(1, 9, np.float32)), x.min(keepdims=True))
    yield _case(without_loop, N, (z, np.zeros(1)), z.sum(keepdims=True), 1e-12)
    pairs = numbers.integers(0, 100, (200, 2), dtype=np.int32)
    yield _case(springs, 200, (v, pairs, np.zeros_like(v)), _springs(v, pairs), 1e-5, "force")
    particles = np.zeros(100, Particle.numpy_dtype())
    particles["place"], particles["mass"], particles["kind"] = v, v[:, 0], np.arange(100)
    later = particles.copy()
    later["place"] += np.float32(0.5) * np.stack([v[:, 0], np.ones(100), np.full(100, 2)], 1).astype(np.float32)
    later["kind"] += 1
    yield _case(moved, 100, (particles, 0.5, np.zeros_like(particles)), later, 1e-6)
    yield _case(generic, N, (z, np.zeros_like(z)), z + z)
    left, right = numbers.random((32, 48), dtype=np.float32), numbers.random((48, 64), dtype=np.float32)
    yield _case(tile_product, (2, 4, 64), (left, right, np.zeros((32, 64), np.float32)), left @ right, 1e-6, block=64)
    rows = numbers.random((8, 64), dtype=np.float32)
    yield _case(tile_sums, (8, 64), (rows, np.zeros(8, np.float32)), rows.sum(1), 1e-6, block=64)


def _springs(x: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    d = x[pairs[:, 1]] - x[pairs[:, 0]]
    f = d * (np.linalg.norm(d, axis=1, keepdims=True) - 1)
    force = np.zeros_like(x)
    np.add.at(force, pairs[:, 0], f)
    np.add.at(force, pairs[:, 1], -f)
    return force


def _case(kernel, dim, args, expected, rtol=0.0, result="out", block=256) -> Case:  # noqa: PLR0913
    expected = {result: expected}
    return Case("warp-lang", kernel.key, lambda board: prepare(kernel, dim, args, board, block), expected, rtol)
