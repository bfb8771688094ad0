"""Textures and surfaces equal what the formulas of the CUDA C++ Programming Guide give, lane by lane."""

from dataclasses import replace
from itertools import product
from math import floor, prod

import numpy as np
import pytest

import warpbound
from warpbound.errors import InputError
from warpbound.kernel_argument import Argument
from warpbound.kernel_launch import contents, launch
from warpbound.program.source_files import compile_program
from warpbound.texture_sampling import Sampling

pytestmark = pytest.mark.cuda

SOURCE = """
extern "C" __global__ void fetch(cudaTextureObject_t t, float *out, int first)
{ int i = threadIdx.x; out[i] = tex1Dfetch<float>(t, first + i); }
extern "C" __global__ void plain(const float *t, float *out, int first)
{ int i = threadIdx.x; out[i] = __ldg(t + first + i); }
extern "C" __global__ void at(cudaTextureObject_t t, const float *x, const float *y, float *out)
{ int i = threadIdx.x; out[i] = tex2D<float>(t, x[i], y[i]); }
extern "C" __global__ void along(cudaTextureObject_t t, const float *x, float *out)
{ int i = threadIdx.x; out[i] = tex1D<float>(t, x[i]); }
extern "C" __global__ void pixels(cudaTextureObject_t t, uchar4 *out)
{ int i = threadIdx.x; out[i] = tex2D<uchar4>(t, i + 0.5f, 1.5f); }
extern "C" __global__ void channels(cudaTextureObject_t t, float *out)
{ int i = threadIdx.x; float4 v = tex2D<float4>(t, i + 0.5f, 1.5f); out[i] = v.y; out[i + 32] = v.w; }
extern "C" __global__ void chosen(const cudaTextureObject_t *which, cudaTextureObject_t a, cudaTextureObject_t b,
  float *out)
{ int i = threadIdx.x; out[i] = tex1Dfetch<float>(which[i], i); }
extern "C" __global__ void moved(cudaSurfaceObject_t s, int x, int y, short *out)
{ int i = threadIdx.x; short v; surf2Dread(&v, s, 2 * i, y); out[i] = v;
  surf2Dwrite((short)(v + 1), s, 2 * (i + x), y + 1); }
extern "C" __global__ void lenient(cudaSurfaceObject_t s, int x, float4 *out)
{ int i = threadIdx.x; float4 v, w; surf2Dread(&v, s, 16 * (i + x), 0, cudaBoundaryModeZero);
  surf2Dread(&w, s, 16 * (i + x), 5, cudaBoundaryModeClamp); out[i] = v; out[i + 32] = w;
  surf2Dwrite(v, s, 16 * (i + x), 1, cudaBoundaryModeZero); }
extern "C" __global__ void solid(cudaTextureObject_t t, const float *x, const float *y, const float *z, float *out)
{ int i = threadIdx.x; out[i] = tex3D<float>(t, x[i], y[i], z[i]); }
extern "C" __global__ void layer(cudaTextureObject_t t, const float *x, const float *y, const int *z, float *out)
{ int i = threadIdx.x; out[i] = tex2DLayered<float>(t, x[i], y[i], z[i]);
  out[i + 32] = tex1DLayered<float>(t, x[i], z[i]); }
extern "C" __global__ void cubes(cudaTextureObject_t t, const float *x, const float *y, const float *z, const int *l,
  float *out)
{ int i = threadIdx.x; out[i] = texCubemapLayered<float>(t, x[i], y[i], z[i], l[i]);
  if (l[i] == 0) out[i] -= texCubemap<float>(t, x[i], y[i], z[i]); }
extern "C" __global__ void numbered(const cudaTextureObject_t *which, cudaTextureObject_t a, cudaTextureObject_t b,
  const float *x, const float *y, const float *z, float *out)
{ int i = threadIdx.x; out[i] = tex3D<float>(which[i], x[i], y[i], z[i]); }
extern "C" __global__ void slices(cudaSurfaceObject_t s, const int *y, const int *z, short *out)
{ int i = threadIdx.x; short v; surf3Dread(&v, s, 2 * i, y[i], z[i]); out[i] = v;
  surf2DLayeredwrite((short)(v + 1), s, 2 * i, y[i], z[i] + 1); }
extern "C" __global__ void lines(cudaSurfaceObject_t s, const int *z, short *out)
{ int i = threadIdx.x; short v; surf1DLayeredread(&v, s, 2 * i, z[i]); out[i] = v; }
extern "C" __global__ void four(cudaTextureObject_t t, const float *x, const float *y, float4 *out)
{ int i = threadIdx.x; out[i] = tex2Dgather<float4>(t, x[i], y[i], 0);
  out[i + 32] = tex2Dgather<float4>(t, x[i], y[i], 2); out[i + 64].y = tex2Dgather<float4>(t, x[i], y[i], 1).y; }
extern "C" __global__ void four_of(const cudaTextureObject_t *which, cudaTextureObject_t a, const float *x,
  const float *y, float4 *out)
{ int i = threadIdx.x; out[i] = tex2Dgather<float4>(which[i], x[i], y[i], 2); }
"""
RNG = np.random.default_rng(7)
TEXELS = RNG.standard_normal((5, 12)).astype(np.float32)


def executed(kernel, arch, args, sampling=None):
    program = compile_program(SOURCE, f"sm_{arch}", kernel)
    asked = launch(grid=1, block=32, args=args)
    if sampling is not None:
        asked = replace(asked, args=(replace(asked.args[0], texture=sampling), *asked.args[1:]))
    return warpbound.run(program, asked)


def texel(array, places, modes, normalized, border=0.0):
    """T[i, j] with each index put into range as its mode says; the border outside."""
    found = []
    for index, size, mode in zip(places, array.shape[::-1], modes, strict=False):
        if mode == "border" and not 0 <= index < size:
            return border
        if mode in ("wrap", "mirror") and normalized:
            rounds = floor(index / size)
            inner = index - rounds * size
            found.append(size - 1 - inner if mode == "mirror" and rounds % 2 else inner)
        else:
            found.append(min(max(index, 0), size - 1))
    return float(array[tuple(found[::-1])])


def reference(array, at, sampling):
    normalized = sampling.coordinates == "normalized"
    scaled = [float(c) * (n if normalized else 1) for c, n in zip(at, array.shape[::-1], strict=True)]
    if sampling.filter == "point":
        return texel(array, [floor(c) for c in scaled], sampling.address, normalized, sampling.border[0])
    total = 0.0
    for corner in product((0, 1), repeat=len(scaled)):
        shares = [floor((c - 0.5 - floor(c - 0.5)) * 256 + 0.5) / 256 for c in scaled]
        weight = prod(share if step else 1 - share for step, share in zip(corner, shares, strict=True))
        places = [floor(c - 0.5) + step for step, c in zip(corner, scaled, strict=True)]
        total += weight * texel(array, places, sampling.address, normalized, sampling.border[0])
    return total


@pytest.mark.parametrize("arch", [75, 80, 90, 120])
def test_linear_memory(arch):
    data = TEXELS.reshape(-1)
    out = executed("fetch", arch, {"t": data, "out": np.ones(32, np.float32), "first": -4})["out"]
    assert (out == [0, 0, 0, 0, *data[:28]]).all()
    out = executed("fetch", arch, {"t": data, "out": np.ones(32, np.float32), "first": 50})["out"]
    assert (out == [*data[50:], *[0] * 22]).all()


@pytest.mark.parametrize(
    "arch, filter_, coordinates, modes",
    [
        (75, "point", "texels", ("clamp", "border")),
        (80, "point", "texels", ("wrap", "mirror")),
        (80, "point", "normalized", ("wrap", "mirror")),
        (90, "point", "normalized", ("mirror", "wrap")),
        (80, "linear", "texels", ("clamp", "border")),
        (90, "linear", "normalized", ("wrap", "clamp")),
        (120, "linear", "normalized", ("mirror", "border")),
    ],
)
def test_two_dimensions(arch, filter_, coordinates, modes):
    sampling = Sampling(address=(*modes, "wrap"), filter=filter_, coordinates=coordinates)
    reach = np.array([12, 5]) if coordinates == "texels" else np.ones(2)
    x, y = (RNG.uniform(-0.6, 1.6, (32, 2)) * reach).T.astype(np.float32)
    x[:4], y[:4] = (-2 * reach[0], 3.3 * reach[0], 0, 0), (0, 0.4, 0.4, reach[1])
    out = executed("at", arch, {"t": TEXELS, "x": x, "y": y, "out": np.zeros(32, np.float32)}, sampling)["out"]
    wanted = np.array([reference(TEXELS, place, sampling) for place in zip(x, y, strict=True)])
    assert (np.unique(wanted).size > 8)
    assert np.abs(out - wanted).max() <= 2**-22


@pytest.mark.parametrize("arch, filter_", [(75, "linear"), (90, "point")])
def test_border_colours(arch, filter_):
    sampling = Sampling(("border", "border", "wrap"), filter_, border=(0.75, 9.0, 9.0, 9.0))
    x, y = np.linspace(-2, 14, 32, dtype=np.float32), np.linspace(6, -1, 32, dtype=np.float32)
    out = executed("at", arch, {"t": TEXELS, "x": x, "y": y, "out": np.zeros(32, np.float32)}, sampling)["out"]
    wanted = np.array([reference(TEXELS, place, sampling) for place in zip(x, y, strict=True)])
    assert 4 < (wanted == 0.75).sum() < 28
    assert np.abs(out - wanted).max() <= 2**-22


@pytest.mark.parametrize(
    "arch, coordinates, modes",
    [(75, "texels", ("clamp", "border")), (80, "normalized", ("wrap", "mirror")), (90, "texels", ("border", "clamp")),
     (120, "normalized", ("mirror", "wrap"))],
)  # fmt: skip
def test_gathers(arch, coordinates, modes):
    """Channels of the four texels around a place, counter-clockwise from the lower left one."""
    sampling = Sampling((*modes, "wrap"), coordinates=coordinates, border=(0.5, 0.25, -3.0, 7.0))
    texels = RNG.standard_normal((5, 12, 4)).astype(np.float32)
    reach = np.array([12, 5]) if coordinates == "texels" else np.ones(2)
    x, y = (RNG.uniform(-0.4, 1.4, (32, 2)) * reach).T.astype(np.float32)
    x[:3] = np.array([2.49805, 2.497, 2.5]) / 12 * reach[0]  # the first is so near to 2.5 that it counts as 2.5
    args = {"t": texels, "x": x, "y": y, "out": np.zeros((96, 4), np.float32)}
    out = executed("four", arch, args, sampling)["out"]
    for lane in range(32):
        u, v = (float(c) * (n if coordinates == "normalized" else 1) for c, n in ((x[lane], 12), (y[lane], 5)))
        i, j = (floor(floor((c - 0.5) * 256 + 0.5) / 256) for c in (u, v))
        if lane < 3:
            assert i == (2, 1, 2)[lane]
        places = [(i, j + 1), (i + 1, j + 1), (i + 1, j), (i, j)]
        red, green, blue = (
            [texel(texels[..., c], at, modes, coordinates == "normalized", sampling.border[c]) for at in places]
            for c in range(3)
        )
        assert out[lane].tolist() == np.float32(red).tolist()
        assert out[lane + 32].tolist() == np.float32(blue).tolist()
        assert out[lane + 64, 1] == np.float32(green[1])


@pytest.mark.parametrize("arch", [75, 80, 90])
def test_gathers_of_a_channel_that_is_not_there_from_objects_in_memory(arch):
    one = TEXELS
    args = {"which": np.full(32, 1, np.uint64), "a": one, "x": np.full(32, 3.2, np.float32),
            "y": np.full(32, 2.7, np.float32), "out": np.ones((32, 4), np.float32)}  # fmt: skip
    assert (executed("four_of", arch, args)["out"] == 0).all()
    args["a"] = np.stack([one, one, one + 1, one], axis=-1)
    assert (executed("four_of", arch, args)["out"] == np.array([one[3, 2], one[3, 3], one[2, 3], one[2, 2]]) + 1).all()


@pytest.mark.parametrize("arch", [75, 120])
def test_srgb_texels_become_linear_but_for_the_fourth_channel(arch):
    texels = np.arange(240, dtype=np.uint8).reshape(5, 12, 4)
    args = {"t": texels, "out": np.zeros(64, np.float32)}
    out = executed("channels", arch, args, Sampling(("clamp",) * 3, read_mode="srgb"))
    green, alpha = (texels[1, np.minimum(np.arange(32), 11), c] / 255 for c in (1, 3))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in green]
    assert np.abs(out["out"][:32] - linear).max() <= 2**-24
    assert np.abs(out["out"][32:] - alpha).max() <= 2**-24
    with pytest.raises(InputError, match="read as sRGB, which texels of f32 are not"):
        executed("channels", 80, {"t": TEXELS, "out": np.zeros(64, np.float32)}, Sampling(read_mode="srgb"))
    with pytest.raises(InputError, match="has a border colour, which texels of u8 read as integers do not have"):
        executed("pixels", 80, {"t": texels, "out": np.zeros(128, np.uint8)}, Sampling(border=(1.0, 0, 0, 0)))


def test_one_dimension_has_no_second_coordinate():
    line, x = TEXELS[0], np.linspace(-2, 14, 32, dtype=np.float32)
    sampling = Sampling(address=("border", "border", "border"), filter="linear")
    out = executed("along", 80, {"t": line, "x": x, "out": np.zeros(32, np.float32)}, sampling)["out"]
    weights = np.floor((x - 0.5 - np.floor(x - 0.5)) * 256 + 0.5) / 256
    around = np.concatenate([np.zeros(4), line, np.zeros(4)])
    first = np.floor(x - 0.5).astype(int) + 4
    assert np.abs(out - ((1 - weights) * around[first] + weights * around[first + 1])).max() <= 2**-22


@pytest.mark.parametrize("arch", [80, 120])
def test_channels_are_integers_or_fractions(arch):
    pixels = RNG.integers(0, 256, (3, 32, 4), np.uint8)
    out = executed("pixels", arch, {"t": pixels, "out": np.zeros(128, np.uint8)})["out"]
    assert (out.reshape(32, 4) == pixels[1]).all()
    for array, largest in ((pixels, 255), (pixels.view(np.int8), 127), (pixels.astype(np.int16) * -129, 32767)):
        sampling = Sampling(read_mode="normalized_float")
        out = executed("channels", arch, {"t": array, "out": np.zeros(64, np.float32)}, sampling)["out"]
        wanted = np.maximum(array[1, :, [1, 3]] / largest, -1).astype(np.float32)
        assert (out.reshape(2, 32) == wanted).all()
    halves = RNG.standard_normal((2, 32, 4)).astype(np.float16)
    out = executed("channels", arch, {"t": halves, "out": np.zeros(64, np.float32)})["out"]
    assert (out.reshape(2, 32) == halves[1, :, [1, 3]]).all()


@pytest.mark.parametrize("arch", [75, 90])
def test_lanes_with_different_objects(arch):
    a, b = RNG.standard_normal((2, 32)).astype(np.float32)
    which = RNG.integers(1, 3, 32).astype(np.uint64)
    out = executed("chosen", arch, {"which": which, "a": a, "b": b, "out": np.zeros(32, np.float32)})["out"]
    assert (out == np.where(which == 1, a, b)).all()


def test_memory_that_is_an_array_and_a_texture():
    asked = launch(grid=1, block=32, args={"out": TEXELS.reshape(-1), "t": 0, "first": 28})
    alias = Argument("t", "alias", alias="out")
    asked = replace(asked, args=(alias, asked.args[0], asked.args[2]))
    out = warpbound.run(compile_program(SOURCE, "sm_80", "fetch"), asked)["out"]
    assert (out[:32] == TEXELS.reshape(-1)[28:]).all()


@pytest.mark.parametrize("arch", [75, 90, 120])
def test_surfaces_are_read_and_written(arch):
    surface = RNG.integers(-9, 9, (4, 40), np.int16)
    done = executed("moved", arch, {"s": surface, "x": 3, "y": 1, "out": np.zeros(32, np.int16)})
    wanted = surface.copy()
    wanted[2, 3:35] = surface[1, :32] + 1
    assert (done["s"] == wanted).all()
    assert (done["out"] == surface[1, :32]).all()
    with pytest.raises(InputError, match=r"byte x = 80, y = 2 is outside a surface of 40 x 4 elements"):
        executed("moved", arch, {"s": surface, "x": 20, "y": 1, "out": np.zeros(32, np.int16)})


def test_boundary_modes_of_surfaces():
    surface = RNG.standard_normal((2, 32, 4)).astype(np.float32)
    done = executed("lenient", 80, {"s": surface, "x": 8, "out": np.ones(256, np.float32)})
    zero, clamped = done["out"].reshape(2, 32, 4)
    assert (zero[:24] == surface[0, 8:]).all()
    assert not zero[24:].any()
    assert (clamped == surface[1, np.minimum(np.arange(32) + 8, 31)]).all()
    assert (done["s"][1, 8:] == surface[0, 8:]).all()
    assert (done["s"][1, :8] == surface[1, :8]).all()


SOLID = RNG.standard_normal((6, 4, 4, 1)).astype(np.float32)


@pytest.mark.parametrize(
    "arch, filter_, coordinates, modes",
    [
        (75, "linear", "texels", ("clamp", "border", "clamp")),
        (80, "point", "normalized", ("wrap", "mirror", "border")),
        (90, "linear", "normalized", ("clamp", "wrap", "mirror")),
        (120, "linear", "normalized", ("border", "mirror", "wrap")),
    ],
)
def test_three_dimensions(arch, filter_, coordinates, modes):
    sampling = Sampling(address=modes, filter=filter_, coordinates=coordinates)
    reach = np.array([4, 4, 6]) if coordinates == "texels" else np.ones(3)
    at = (RNG.uniform(-0.6, 1.6, (32, 3)) * reach).astype(np.float32)
    args = {"t": SOLID, **dict(zip("xyz", at.T, strict=True)), "out": np.zeros(32, np.float32)}
    out = executed("solid", arch, args, sampling)["out"]
    wanted = np.array([reference(SOLID[..., 0], place, sampling) for place in at])
    assert np.unique(wanted).size > 8
    assert np.abs(out - wanted).max() <= 2**-22


@pytest.mark.parametrize("arch", [75, 90, 120])
def test_layers(arch):
    sampling = Sampling(address=("clamp", "clamp", "clamp"), filter="linear")
    x, y = RNG.uniform(-1, 5, (2, 32)).astype(np.float32)
    z = RNG.integers(0, 9, 32).astype(np.int32)  # above 5 the last layer is meant
    args = {"t": SOLID, "x": x, "y": y, "z": z, "out": np.zeros(64, np.float32)}
    out = executed("layer", arch, args, sampling)["out"]
    own = SOLID[np.minimum(z, 5), ..., 0]
    wanted = [reference(own[i], (x[i], y[i]), sampling) for i in range(32)]
    assert np.abs(out[:32] - wanted).max() <= 2**-22
    wanted = [reference(own[i, 0], (x[i],), sampling) for i in range(32)]
    assert np.abs(out[32:] - wanted).max() <= 2**-22


@pytest.mark.parametrize("arch", [75, 90, 120])
def test_cubes(arch):
    cubes = RNG.standard_normal((12, 4, 4, 1)).astype(np.float32)
    place = RNG.integers(0, 4, (32, 2))
    face, which = np.arange(32) % 6, (np.arange(32) // 6 % 2).astype(np.int32)
    s, t = (place / 2 - 0.75).T
    one = np.ones(32)
    directions = np.choose(face[:, None], [  # the table of the guide read backwards
        np.array(each).T for each in (
            (one, -t, -s), (-one, -t, s), (s, one, t), (s, -one, -t), (s, -t, one), (-s, -t, -one))
    ])  # fmt: skip
    x, y, z = (directions * RNG.uniform(0.5, 9, (32, 1))).T.astype(np.float32)
    args = {"t": cubes, "x": x, "y": y, "z": z, "l": which, "out": np.zeros(32, np.float32)}
    out = executed("cubes", arch, args, Sampling(coordinates="normalized"))["out"]
    assert (out == np.where(which == 0, 0, cubes[face + 6 * which, place[:, 1], place[:, 0], 0])).all()


@pytest.mark.parametrize("arch", [75, 80, 120])
def test_lanes_with_different_solids(arch):
    which = RNG.integers(1, 3, 32).astype(np.uint64)
    x, y, z = RNG.integers(0, [[4], [4], [6]], (3, 32))
    other = -2 * SOLID
    at = {axis: (each + 0.5).astype(np.float32) for axis, each in zip("xyz", (x, y, z), strict=True)}
    args = {"which": which, "a": SOLID, "b": other, **at, "out": np.zeros(32, np.float32)}
    out = executed("numbered", arch, args)["out"]
    assert (out == np.where(which == 1, SOLID[z, y, x, 0], other[z, y, x, 0])).all()


@pytest.mark.parametrize("arch", [75, 120])
def test_surfaces_of_slices(arch):
    surface = RNG.integers(-9, 9, (3, 2, 40, 1), np.int16)
    y, z = RNG.integers(0, 2, (2, 32)).astype(np.int32)
    done = executed("slices", arch, {"s": surface, "y": y, "z": z, "out": np.zeros(32, np.int16)})
    wanted = surface.copy()
    wanted[z + 1, y, np.arange(32)] = surface[z, y, np.arange(32)] + 1
    assert (done["out"] == surface[z, y, np.arange(32), 0]).all()
    assert (done["s"] == wanted).all()
    with pytest.raises(InputError, match=r"y = \d, z = 3 is outside a surface of 40 x 2 x 3 elements"):
        executed("slices", arch, {"s": surface, "y": y, "z": z + 2, "out": np.zeros(32, np.int16)})
    flat = RNG.integers(-9, 9, (3, 1, 40, 1), np.int16)
    done = executed("lines", arch, {"s": flat, "z": z, "out": np.zeros(32, np.int16)})
    assert (done["out"] == flat[z, 0, np.arange(32), 0]).all()


LAUNCH = """
kernel = "at"
grid = 1
block = 32
args = [
  {{ name = "t", dtype = "{dtype}", shape = [5, 12], fill = "{fill}", texture = {texture} }},
  {{ name = "x", dtype = "f32", shape = [32], fill = "rand" }},
  {{ name = "y", dtype = "f32", shape = [32], fill = "rand", seed = 1 }},
  {{ name = "out", dtype = "f32", shape = [32] }},
]
"""
LINEAR = '{ filter = "linear", address = ["mirror", "clamp"], coordinates = "normalized" }'


def from_file(folder, dtype, fill, texture):
    place = folder / "launch.toml"
    place.write_text(LAUNCH.format(dtype=dtype, fill=fill, texture=texture))
    asked = launch(place)
    return asked, warpbound.run(compile_program(SOURCE, "sm_80", "at"), asked)["out"]


def test_a_launch_file_tells_how_a_texture_is_read(tmp_path):
    asked, out = from_file(tmp_path, "f32", "randn", LINEAR)
    texels, x, y = (contents(argument, i) for i, argument in enumerate(asked.args[:3]))
    sampling = Sampling(("mirror", "clamp", "clamp"), "linear", coordinates="normalized")
    assert asked.args[0].texture == sampling
    wanted = [reference(texels, place, sampling) for place in zip(x, y, strict=True)]
    assert np.abs(out - wanted).max() <= 2**-22
    with pytest.raises(InputError, match="linear filter, which texels of u8 do not have"):
        from_file(tmp_path, "u8", "rand", LINEAR)
    with pytest.raises(InputError, match="no key 'fliter'"):
        from_file(tmp_path, "f32", "rand", '{ fliter = "linear" }')


def test_what_is_not_executed_is_named():
    with pytest.raises(InputError, match=r"does not execute TEX.*3D.* or has other dimensions"):
        executed("solid", 80, {"t": TEXELS, **dict.fromkeys("xyz", TEXELS), "out": np.zeros(32, np.float32)})
    with pytest.raises(InputError, match=r"'t' is f64\[5, 12\], which is no texture"):
        executed("fetch", 80, {"t": TEXELS.astype(np.float64), "out": np.zeros(32, np.float32), "first": 0})
    args = {"t": TEXELS.reshape(-1), "out": np.zeros(32, np.float32), "first": 0}
    with pytest.raises(InputError, match=r"'t' has a table texture; its parameter is declared `const float"):
        executed("plain", 80, args, Sampling(filter="linear"))


def test_fetches_are_loads_through_the_l1():
    result = {}
    for kernel in ("fetch", "plain"):
        program = compile_program(SOURCE, "sm_80", kernel)
        asked = launch(grid=64, block=32, args={"t": TEXELS.reshape(-1), "out": np.zeros(32, np.float32), "first": 3})
        result[kernel] = warpbound.analyze(program, "a100-sxm-40gb", asked)
    for key in ("global_load_requests", "l1_sectors_load", "l2_sectors_read", "l1_sectors_store"):
        assert result["fetch"]["memory"][key] == result["plain"]["memory"][key] > 0
    assert not any("textures" in sentence for sentence in result["fetch"]["confidence"]["assumed"])
