"""Arguments: their contents, their bytes and the words that say them."""

import struct
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpbound.errors import CommandError, InputError, WarpboundError
from warpbound.kernel_argument import DTYPES, from_value
from warpbound.kernel_launch import Argument, contents, launch, parse_argument, parse_dim, pieces
from warpbound.parameter_packing import check_elements, pack


@pytest.mark.parametrize(
    "word, size_B, packed",
    [
        ("a=2.0", 4, "00000040"),
        ("a=2.0", 8, "0000000000000040"),
        ("a=2.0", 2, "0040"),
        ("a=2", 4, "02000000"),
        ("a=-1", 2, "ffff"),
        ("a=65535", 2, "ffff"),
        ("a=true", 1, "01"),
    ],
)
def test_pack_takes_the_parameter_size(word, size_B, packed):
    assert pack(parse_argument(word), size_B) == bytes.fromhex(packed)


def test_pack_keeps_to_a_given_dtype():
    assert pack(Argument("a", "scalar", "bf16", value=1.0), 2) == bytes.fromhex("803f")
    assert pack(Argument("a", "scalar", "f64", value=1.0), 8) == np.float64(1).tobytes()
    assert pack(Argument("a", "bytes", bytes=b"\1\2"), 2) == b"\1\2"
    for argument, size_B in [(parse_argument("a=65536"), 2), (parse_argument("a=2.0"), 1)]:
        with pytest.raises(InputError, match="does not fit its parameter"):
            pack(argument, size_B)
    with pytest.raises(InputError, match="does not fit its parameter of 8 bytes"):
        pack(Argument("a", "scalar", "f32", value=1.0), 8)


@pytest.mark.parametrize(
    "word, declared, packed",
    [
        ("a=2", "float", "00000040"),
        ("a=2", "const int", "02000000"),
        ("a=2", "Count", "02000000"),
        ("a=1e99", "float", "0000807f"),
        ("a=4294967295", "unsigned int", "ffffffff"),
    ],
)
def test_pack_heeds_the_declared_type(word, declared, packed):
    assert pack(parse_argument(word), 4, declared) == bytes.fromhex(packed)


@pytest.mark.parametrize(
    "word, size_B, declared, packed",
    [
        ("a=2.0", 4, "__half2", "00400040"),
        ("a=2", 4, "const half2", "00400040"),
        ("a=1.0", 4, "__nv_bfloat162", "803f803f"),
        ("a=1", 12, "float3", "0000803f" * 3),
        ("a=-1", 8, "int2", "ff" * 8),
    ],
)
def test_pack_fills_every_element_of_a_vector(word, size_B, declared, packed):
    assert pack(parse_argument(word), size_B, declared) == bytes.fromhex(packed)


def test_a_number_is_no_struct():
    assert pack(parse_argument("p=0"), 24, "Params") == bytes(24)
    assert pack(parse_argument("p=5"), 16, "__int128") == (5).to_bytes(16, "little")
    for word in ("p=5", "p=2.5"):
        with pytest.raises(InputError, match="'p' does not fit its parameter of 24 bytes. Give a struct as bytes"):
            pack(parse_argument(word), 24, "Params")


def test_numbers_that_numpy_counts_with_take_the_declared_type():
    assert pack(from_value("n", np.int64(7)), 4, "int") == pack(from_value("n", 7), 4, "int")
    assert pack(from_value("a", np.array(2.5)), 4, "float") == struct.pack("<f", 2.5)
    with pytest.raises(InputError, match="does not fit i32"):
        pack(from_value("n", np.int64(2**31)), 4, "int")


@pytest.mark.parametrize(
    "dtype, declared",
    [("f64", "const float* __restrict__"), ("f32", "double *"), ("i64", "int*"), ("i64", "const unsigned int[]")],
)
def test_elements_of_another_size_than_declared_are_refused(dtype, declared):
    with pytest.raises(InputError, match=f"'x' is an array of {dtype}; its parameter is declared"):
        check_elements(Argument("x", "array", dtype, (4,)), declared)


@pytest.mark.parametrize(
    "dtype, declared",
    [("f32", "float*"), ("f32", "const float4*"), ("i8", "int*"), ("f32", "unsigned int*"), ("u64", "size_t*"),
     ("f64", "void*"), ("f64", "T*"), ("f64", ""), ("f64", "float**")],
)  # fmt: skip
def test_elements_as_declared_or_of_a_type_that_says_nothing_are_taken(dtype, declared):
    check_elements(Argument("x", "array", dtype, (4,)), declared)


@pytest.mark.parametrize("word, declared", [("a=2.5", "int"), ("a=-1", "unsigned"), ("a=1", "bool")])
def test_pack_refuses_what_the_declared_type_cannot_hold(word, declared):
    with pytest.raises(InputError, match="argument 'a', value"):
        pack(parse_argument(word), 4, declared)


# --- contents ---


def filled(dtype, fill, shape=(1000,), seed=0):
    return Argument("x", "array", dtype, shape, fill, seed)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fill", ["zeros", "ones", "rand"])
def test_fills_have_their_type_and_shape(dtype, fill):
    array = contents(filled(dtype, fill, (3, 5)), 1)
    assert (array.shape, array.dtype) == ((3, 5), DTYPES[dtype])
    assert array.flags.writeable
    if fill == "ones":
        assert (array == (0x3F80 if dtype == "bf16" else 1)).all()


def test_random_fills_are_the_same_for_everyone():
    """Numbers of NumPy's PCG64([seed, index]): its streams do not change between versions."""
    direct = np.random.Generator(np.random.PCG64([7, 2])).standard_normal(1000, np.float32)
    assert np.array_equal(contents(filled("f32", "randn", seed=7), 2), direct)
    assert contents(filled("f64", "rand", (2,)), 0) == pytest.approx([0.6369616873214543, 0.2697867137638703])
    for fill in ("rand", "randn"):
        first = contents(filled("f32", fill), 0)
        assert np.array_equal(first, contents(filled("f32", fill), 0))
        assert not np.array_equal(first, contents(filled("f32", fill), 1))
        assert not np.array_equal(first, contents(filled("f32", fill, seed=1), 0))


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64"])
def test_rand_of_floats_is_in_the_unit_interval(dtype):
    array = contents(filled(dtype, "rand", (100_000,)), 0)
    assert array.min() >= 0
    assert array.max() < 1
    assert array.mean(dtype=float) == pytest.approx(0.5, abs=0.01)


def test_rand_of_bf16_is_in_the_unit_interval():
    bits = contents(filled("bf16", "rand", (100_000,)), 0)
    values = (bits.astype(np.uint32) << 16).view(np.float32)
    assert 0 <= values.min() < 0.01
    assert 0.99 < values.max() < 1


@pytest.mark.parametrize("dtype", ["i8", "u8", "i16", "u16"])
def test_rand_of_integers_covers_the_type(dtype):
    array = contents(filled(dtype, "rand", (2_000_000,)), 0)
    assert (array.min(), array.max()) == (np.iinfo(array.dtype).min, np.iinfo(array.dtype).max)


def test_iota_counts_in_c_order_and_wraps():
    assert contents(filled("f32", "iota", (2, 3)), 0).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert contents(filled("i8", "iota", (130,)), 0)[-2:].tolist() == [-128, -127]
    assert np.isinf(contents(filled("f16", "iota", (70_000,)), 0)[-1])


def test_bf16_rounds_to_nearest_even():
    bits = contents(filled("bf16", "iota", (260,)), 0)
    assert [hex(bits[n]) for n in (1, 3, 257, 258, 259)] == ["0x3f80", "0x4040", "0x4380", "0x4381", "0x4382"]


def test_contents_of_files_and_of_what_is_no_array(tmp_path):
    path = tmp_path / "weights.npy"
    np.save(path, np.arange(6, dtype=">f8").reshape(2, 3))
    weights = parse_argument(f"w=@{path}")
    array = contents(weights, 0)
    assert (array.dtype, array.tolist()) == (np.dtype("<f8"), [[0, 1, 2], [3, 4, 5]])
    array[:] = 0
    assert contents(weights, 0)[0, 1] == 1
    for argument in (parse_argument("n=3"), parse_argument("x=f32[4]"), Argument("y", "alias", alias="x")):
        assert contents(argument, 0) is None
    path.unlink()
    with pytest.raises(InputError, match="'w': its 48 bytes are not available"):
        contents(weights, 0)
    with pytest.raises(InputError, match="Give a smaller shape"):
        contents(filled("f64", "rand", (2**40, 2**40)), 0)


def test_bf16_file_holds_its_bits(tmp_path):
    np.save(tmp_path / "h.npy", np.array([0x3F80], np.uint16))
    path = tmp_path / "launch.toml"
    path.write_text('grid = 1\nblock = 1\nargs = [{name = "h", dtype = "bf16", file = "h.npy"}]')
    (argument,) = launch(path).args
    assert (argument.dtype, contents(argument, 0).tolist()) == ("bf16", [0x3F80])


# --- words ---


@pytest.mark.parametrize(
    "word, argument",
    [
        ("n=16777216", Argument("n", "scalar", value=16777216)),
        ("n=-0x10", Argument("n", "scalar", value=-16)),
        ("a=2.0", Argument("a", "scalar", value=2.0)),
        ("a=2.f", Argument("a", "scalar", value=2.0)),
        ("a=1e-3", Argument("a", "scalar", value=1e-3)),
        ("a=-inf", Argument("a", "scalar", value=-np.inf)),
        ("b=true", Argument("b", "scalar", value=True)),
        ("x=f32[4096,4096]", Argument("x", "array", "f32", (4096, 4096))),
        ("x=f32[1000]:iota", Argument("x", "array", "f32", (1000,), "iota")),
        ("0=5", Argument(0, "scalar", value=5)),
    ],
)
def test_parse_argument(word, argument):
    assert parse_argument(word) == argument


@pytest.mark.parametrize(
    "word, part",
    [
        ("n", "not of the form NAME=VALUE"),
        ("=1", "not of the form NAME=VALUE"),
        ("n=", "has no valid value"),
        ("n=two", "f32[4096,4096]"),
        ("x=f33[4]", "Did you mean 'f32'?"),
        ("x=f32[4]:rond", "Did you mean 'rand'?"),
        ("x=f32[0]", ">= 1"),
        ("x=f32[]", "has no valid value"),
        ("x=i32[4]:randn", "randn is not defined for i32"),
        ("n=99999999999999999999", "does not fit 64 bits"),
    ],
)
def test_parse_argument_refusals(word, part):
    with pytest.raises(CommandError) as refusal:
        parse_argument(word)
    assert part in str(refusal.value)
    assert word in str(refusal.value)


@pytest.mark.parametrize("word, dim", [("37,2048,1", (37, 2048, 1)), ("5", (5, 1, 1)), ("2,3", (2, 3, 1))])
def test_parse_dim(word, dim):
    assert parse_dim(word) == dim


@pytest.mark.parametrize("word", ["", "0", "1,2,3,4", "-1", "1,", "x", "1.5", "2147483648", "٣"])
def test_parse_dim_refusals(word):
    with pytest.raises(CommandError, match="out of range|is not a size"):
        parse_dim(word)


PIECES = ["x", "0", "=", "@", "[", "]", ",", ":", "f32", "i8", "rand", "-", "1e", ".", "9" * 19, "\0"]
WORDS = st.text() | st.lists(st.sampled_from(PIECES)).map("".join)


@given(WORDS | WORDS.map("x=".__add__) | WORDS.map("x=@no/".__add__))
def test_words_raise_nothing_but_our_own_errors(word):
    for parse in (parse_argument, parse_dim):
        with suppress(WarpboundError):
            parse(word)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("fill", ["ones", "iota", "rand", "randn"])
def test_pieces_are_those_of_the_whole(dtype, fill):
    if fill in ("iota", "randn") and (dtype == "bool" or (fill == "randn" and dtype[0] in "iu")):
        return
    argument = Argument("x", "array", dtype, (40, 1003), fill, seed=5)
    whole, piece = contents(argument, 3).reshape(-1).view(np.uint8), pieces(argument, 3)
    for start, end in ((128 * 64, 128 * 64 + 640), (0, 64), (320, len(whole)), (64, 64 + 64 * 99), (0, len(whole))):
        assert np.array_equal(piece(start, end), whole[start:end])


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_normal_numbers_are_drawn_again_from_the_middle(dtype):
    argument = Argument("x", "array", dtype, (50_000,), "randn", seed=len(dtype))
    whole, piece = contents(argument, 1).view(np.uint8), pieces(argument, 1)
    page = 1 << 13
    for start in (5 * page, 0, 3 * page, 11 * page, 5 * page, 2 * page + 64):
        assert np.array_equal(piece(start, min(start + page, len(whole))), whole[start : start + page])
    assert np.array_equal(piece(64, len(whole)), whole[64:])


def test_pieces_of_given_arrays(tmp_path):
    held = np.arange(3000, dtype=np.int16)
    np.save(tmp_path / "x.npy", held)
    argument = launch(grid=1, block=1, args={"x": held, "y": f"@{tmp_path / 'x.npy'}"}).args
    for one in argument:
        assert np.array_equal(pieces(one, 0)(640, 1280).view(np.int16), held[320:640])
    assert pieces(parse_argument("x=f32[100]"), 0) is None
    assert pieces(parse_argument("x=f32[100]:zeros"), 0) is None
