"""Launches: what the file, Python and the command line may say, and how each refusal reads."""

import tomllib
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from support.paths import ROOT
from support.toml_text import toml
from warpbound.errors import CommandError, InputError
from warpbound.kernel_argument import DTYPES
from warpbound.kernel_launch import (
    Argument,
    Launch,
    aliased,
    check,
    contents,
    launch,
    override,
    parse_argument,
    parse_dim,
)
from warpbound.report.document import schema

EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
SCHEMA = schema("launch")
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)

WHOLE = """
kernel = "convolution_kernel"
gpu = "a100-pcie-40gb"
grid = [37, 2048]
block = 112
cluster = [1, 2]
smem = 1024
carveout = 100
[defines]
tile_size_x = 1
FAST = true
NAME = "float"
[compile]
include = ["headers"]
options = ["--use_fast_math"]
[[args]]
name = "input"
dtype = "f32"
shape = [100, 2]
fill = "randn"
seed = 3
[[args]]
name = "n"
dtype = "i32"
value = 4096
[[args]]
name = "output"
alias = "input"
offset = 16
[[args]]
name = "params"
bytes = "0400000000002041"
[[args]]
name = "weights"
file = "weights.npy"
[[args]]
name = "state"
file = "state.bin"
[[constants]]
name = "d_filter"
dtype = "f32"
shape = [1089]
"""


def written(folder, text):
    path = folder / "launch.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path):
    np.save(tmp_path / "weights.npy", np.arange(6, dtype=">f8").reshape(2, 3))
    (tmp_path / "state.bin").write_bytes(b"\1\2\3")
    return tmp_path


# --- the file ---


def test_file_is_read_as_it_says(folder):
    path = written(folder, WHOLE)
    assert launch(path) == Launch(
        grid=(37, 2048, 1),
        block=(112, 1, 1),
        kernel="convolution_kernel",
        gpu="a100-pcie-40gb",
        cluster=(1, 2, 1),
        smem=1024,
        carveout=100,
        defines={"tile_size_x": "1", "FAST": "1", "NAME": "float"},
        include=(folder / "headers",),
        options=("--use_fast_math",),
        args=(
            Argument("input", "array", "f32", (100, 2), "randn", 3),
            Argument("n", "scalar", "i32", value=4096),
            Argument("output", "alias", alias="input", offset=16),
            Argument("params", "bytes", bytes=bytes.fromhex("0400000000002041")),
            Argument("weights", "array", "f64", (2, 3), file=folder / "weights.npy"),
            Argument("state", "bytes", file=folder / "state.bin", bytes=b"\1\2\3"),
        ),
        constants=(Argument("d_filter", "array", "f32", (1089,)),),
        path=path,
    )


def test_file_and_python_and_words_say_the_same(tmp_path):
    x = '{name = "x", dtype = "f32", shape = [8], fill = "iota"}'
    path = written(tmp_path, f'grid = [4]\nblock = [32, 2]\nargs = [{{name = "n", value = 7}}, {x}]')
    spoken = (parse_argument("n=7"), parse_argument("x=f32[8]:iota"))
    from_python = launch(grid=4, block=(32, 2), args={"n": 7, "x": "f32[8]:iota"})
    from_words = launch(grid=parse_dim("4"), block=parse_dim("32,2"), args=spoken)
    assert replace(launch(path), path=None) == from_python == from_words


ARGUMENT = 'grid = 1\nblock = 1\n[[args]]\nname = "x"\n'
ARRAY = ARGUMENT + 'dtype = "f32"\nshape = [4]\n'


@pytest.mark.parametrize(
    "text, parts",
    [
        ("grid = 1", ["block is missing", "Add block"]),
        ("grid = 1\nblock = 1\ngrod = 2", ["no key 'grod'", "Did you mean 'grid'?"]),
        ("grid = 1\nblock = [0]", ["block[0]", ">= 1"]),
        ("grid = []\nblock = 1", ["grid is wrong", "length >= 1"]),
        ("grid = [1, 1, 1, 1]\nblock = 1", ["grid is wrong", "length <= 3"]),
        ("grid = 2147483648\nblock = 1", ["grid is wrong", "<= 2147483647"]),
        ('grid = "1"\nblock = 1', ["grid is wrong", "got a text", "Write grid = 128"]),
        ('grid = 1\nblock = 1\n[args]\nx = "f32[4]"', ["args is wrong", "Write a table [[args]] for each"]),
        ('grid = 1\nblock = 1\nargs = ["n=4"]', ["args[0] is wrong", "got a text", "Write a table [[args]] for each"]),
        (ARGUMENT + "shape = 4", ["args[0].shape is wrong", "Write shape = [1024]"]),
        ("grid = 1\nblock = 1\nsmem = -1", ["smem", ">= 0"]),
        ("grid = 1\nblock = 1\n[compile]\noption = []", ["compile has no key 'option'", "'options'"]),
        ("grid = 1\nblock = 1\n[defines]\nA = [1]", ["defines", "got a list"]),
        ("grid = = 1", ["cannot be read", "Invalid value"]),
        (ARGUMENT, ["args[0] ('x') has neither a value nor a shape", "Give value"]),
        (ARGUMENT + 'fil = "rand"', ["args[0] has no key 'fil'", "Did you mean 'fill'?"]),
        (ARGUMENT + 'dtype = "f33"\nshape = [4]', ["args[0].dtype 'f33' is not known", "mean 'f32'?"]),
        (ARRAY + 'fill = "one"', ["args[0].fill 'one' is not known", "Did you mean 'ones'?"]),
        (ARRAY + 'fill = "qqq"', ["Known are zeros, ones, iota, rand, randn."]),
        (ARRAY + 'fill = "rand"\nvalue = 3', ["gives its contents twice, by value and by fill"]),
        (ARRAY + 'file = "w.npy"\nfill = "ones"', ["twice, by fill and by file"]),
        (ARRAY + "seed = 3", ["seed does not go with shape"]),
        (ARRAY + 'fill = "rand"\nseed = -1', ["args[0].seed", ">= 0"]),
        (ARRAY + 'alias = "x"', ["dtype does not go with alias"]),
        (ARGUMENT + 'dtype = "f32"', ["has neither a value nor a shape"]),
        (ARGUMENT + "shape = [4]", ["is an array without dtype"]),
        (ARGUMENT + 'fill = "ones"\ndtype = "f32"', ["is an array without shape"]),
        (ARGUMENT + 'dtype = "f32"\nshape = [0]', ["args[0].shape[0]", ">= 1"]),
        (ARGUMENT + 'dtype = "i32"\nshape = [4]\nfill = "randn"', ["randn is not defined for i32"]),
        (ARGUMENT + 'dtype = "bool"\nshape = [4]\nfill = "iota"', ["iota is not defined for bool"]),
        (ARGUMENT + 'dtype = "i8"\nvalue = 128', ["128 does not fit i8", "-128 to 127"]),
        (ARGUMENT + 'dtype = "u32"\nvalue = -1', ["-1 does not fit u32"]),
        (ARGUMENT + 'dtype = "i32"\nvalue = 1.5', ["1.5 is not an integer, as i32 needs"]),
        (ARGUMENT + 'dtype = "bool"\nvalue = 1', ["1 is no bool"]),
        (ARGUMENT + 'dtype = "i32"\nvalue = true', ["True is no i32"]),
        (ARGUMENT + "value = 18446744073709551616", ["does not fit 64 bits"]),
        (ARGUMENT + 'dtype = "f64"\nvalue = 1' + 400 * "0", ["does not fit f64"]),
        (ARGUMENT + 'bytes = "012"', ["'012' is not hexadecimal", "two digits per byte"]),
        (ARGUMENT + 'file = "none.npy"', ["none.npy' does not exist", "Check its path"]),
        (ARGUMENT + 'file = "broken.npy"', ["broken.npy' cannot be read"]),
        (ARGUMENT + 'file = "complex.npy"', ["complex64", "which no kernel takes"]),
        (ARGUMENT + 'dtype = "f32"\nfile = "weights.npy"', ["holds f64[2, 3]", "the file has both"]),
        (ARGUMENT + 'dtype = "f32"\nfile = "state.bin"', ["is not a .npy file", "numpy.save"]),
        (ARGUMENT + 'alias = "y"', ["'x' aliases 'y', which is not an array"]),
        (ARRAY + '[[args]]\nname = "y"\nalias = "z"', ["Known are x."]),
        (ARRAY + '[[args]]\nname = "y"\nalias = "x"\noffset = 16', ["starts past the end of 'x'", "16"]),
        (ARRAY + '[[args]]\nname = "x"\nvalue = 1', ["argument 'x' is given twice"]),
        ("grid = 1\nblock = 1\n[[constants]]\nvalue = 1", ["constants[0] is not a symbol of its own"]),
    ],
)
def test_file_refusals_name_file_key_and_way_out(folder, text, parts):
    (folder / "broken.npy").write_bytes(b"no array")
    np.save(folder / "complex.npy", np.zeros(2, np.complex64))
    path = written(folder, text)
    with pytest.raises(InputError) as refusal:
        launch(path)
    sentence = str(refusal.value).replace(", args", " args")
    assert all(part in sentence for part in [str(path), *parts]), sentence
    assert refusal.value.hint


def test_missing_or_unreadable_file_is_refused(tmp_path):
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    for name in ("none.toml", "binary.toml", "."):
        with pytest.raises(InputError, match="cannot be read"):
            launch(tmp_path / name)


def test_a_file_may_lack_what_is_said_elsewhere(tmp_path):
    args = '[[args]]\nname = "n"\nvalue = 7\n'
    whole = launch(written(tmp_path, args), grid=4, block=(32, 2))
    assert (whole.grid, whole.block, whole.args) == ((4, 1, 1), (32, 2, 1), (Argument("n", "scalar", value=7),))
    assert launch(written(tmp_path, "block = 64\n"), grid=4).block == (64, 1, 1)
    with pytest.raises(InputError, match="block is missing"):
        launch(written(tmp_path, args), grid=4)


def test_a_byte_order_mark_is_no_part_of_the_file(tmp_path):
    (tmp_path / "launch.toml").write_bytes(b"\xef\xbb\xbfgrid = 2\r\nblock = 64\r\n")
    assert launch(tmp_path / "launch.toml").grid == (2, 1, 1)


def test_a_record_is_a_struct_by_value():
    kind = np.dtype([("scale", "f4"), ("n", "i4")])
    record = np.array([(2.5, 7)], kind)
    for value in (record[0], np.array((2.5, 7), kind)):
        (argument,) = launch(grid=1, block=1, args={"p": value}).args
        assert argument == Argument("p", "bytes", bytes=record.tobytes())
    with pytest.raises(CommandError, match="which no kernel takes"):
        launch(grid=1, block=1, args={"p": record})


# --- the schema accepts what the reader accepts ---


def test_schema_is_valid_and_so_are_its_examples(tmp_path):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for example in SCHEMA["examples"]:
        VALIDATOR.validate(example)
        launch(written(tmp_path, toml(example)))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_valid_and_load(path):
    VALIDATOR.validate(tomllib.loads(path.read_text(encoding="utf-8")))
    loaded = launch(path)
    check(loaded)
    assert path.with_suffix(".cu").is_file()
    assert loaded.kernel
    assert loaded.gpu


KEYS = st.fixed_dictionaries(
    {},
    optional={
        "dtype": st.sampled_from([*DTYPES, "f33"]),
        "shape": st.sampled_from([[4], [2, 2], [], [0], [2**40], [2**40 + 1], [1] * 33, 4]),
        "fill": st.sampled_from(["zeros", "ones", "iota", "rand", "randn", "none"]),
        "seed": st.sampled_from([0, 7, -1, 2**63 - 1, 2**63]),
        "file": st.sampled_from(["weights.npy", "state.bin"]),
        "alias": st.sampled_from(["base", 0, -1, 1.5]),
        "offset": st.sampled_from([0, 8, -1]),
        "value": st.sampled_from([0, 1.5, True, "1", -1, *(2**n for n in (7, 8, 15, 16, 31, 32, 63, 64))]),
        "bytes": st.sampled_from(["00", "00 1f", "0", "", "zz"]),
        "wrong": st.just(1),
    },
)
SIZES = st.sampled_from([1, 0, 2**31 - 1, 2**31, [1], [1, 2], [1, 2, 3], [1, 2, 3, 4], [], [0], "1", True])


@given(table=KEYS, where=st.sampled_from(["args", "constants"]), named=st.booleans())
def test_schema_and_reader_agree_on_arguments(tmp_path_factory, table, where, named):
    folder = tmp_path_factory.getbasetemp()
    np.save(folder / "weights.npy", np.zeros(4, np.float32))
    (folder / "state.bin").write_bytes(b"\1")
    table = {"name": "x"} | table if named else table
    base = {"name": "base", "dtype": "f32", "shape": [4]}
    document = {"grid": 1, "block": 1, "args": [base], "constants": []}
    document[where].append(table)
    try:
        launch(written(folder, toml(document)))
        accepted = True
    except InputError as refusal:
        accepted = "not the type or shape given here" in str(refusal)  # a schema cannot look into files
        assume(not accepted)
    assert accepted == VALIDATOR.is_valid(document)


@given(
    document=st.fixed_dictionaries(
        {},
        optional={"grid": SIZES, "block": SIZES, "cluster": SIZES}
        | {key: st.sampled_from([0, 9, -1, "1"]) for key in ("smem", "carveout")}
        | {key: st.sampled_from(["a", 1]) for key in ("kernel", "gpu", "wrong")}
        | {"defines": st.dictionaries(st.just("A"), st.sampled_from([1, 1.5, "x", True, [1]]))}
        | {"compile": st.dictionaries(st.sampled_from(["include", "o"]), st.sampled_from([["x"], "x"]))},
    )
)
def test_schema_and_reader_agree_on_launches(tmp_path_factory, document):
    try:
        launch(written(tmp_path_factory.getbasetemp(), toml(document)))
        accepted = True
    except InputError:
        accepted = False
    assert accepted == VALIDATOR.is_valid(document)


# --- Python ---


def test_python_values_become_arguments():
    x = np.arange(6, dtype=">i2").reshape(2, 3).T
    made = launch(grid=1, block=1, args={"x": x, "y": x, "a": np.float32(2), "flag": True, 4: b"\1\2"}).args
    x[:] = 0
    assert [argument.kind for argument in made] == ["array", "alias", "scalar", "scalar", "bytes"]
    assert contents(made[0], 0).tolist() == [[0, 3], [1, 4], [2, 5]]
    assert (made[1].alias, made[2].dtype, made[3].value, made[4].name) == ("x", "f32", True, 4)
    assert aliased(made[1], made) is made[0]


@pytest.mark.parametrize(
    "changes, part",
    [
        ({"block": 1}, "needs a grid and a block"),
        ({"grid": 1, "block": 1, "blok": 1}, "Did you mean 'block'?"),
        ({"grid": 1, "block": (1, 1, 1, 1)}, "4 dimensions"),
        ({"grid": 1, "block": 2.5}, "not a whole number"),
        ({"grid": 1, "block": "12"}, "not a whole number"),
        ({"grid": 1, "block": True}, "not a whole number"),
        ({"grid": 0, "block": 1}, "out of range"),
        ({"grid": 1, "block": 1, "smem": -1}, "smem is -1"),
        ({"grid": 1, "block": 1, "args": {"x": None}}, "'x' is of type NoneType"),
        ({"grid": 1, "block": 1, "args": {"x": np.zeros(2, complex)}}, "complex128"),
        ({"grid": 1, "block": 1, "args": {"x": np.zeros(0)}}, "which no kernel takes"),
        ({"grid": 1, "block": 1, "args": {"x": 2**64}}, "does not fit 64 bits"),
        ({"grid": 1, "block": 1, "args": {-1: 2}}, "-1 names no argument"),
        ({"grid": 1, "block": 1, "args": [3, 4]}, "[3, 4] names no arguments"),
        ({"grid": 1, "block": 1, "args": 3}, "3 names no arguments"),
    ],
)
def test_python_refusals(changes, part):
    with pytest.raises(CommandError) as refusal:
        launch(**changes)
    assert part in str(refusal.value)
    assert refusal.value.hint


def test_override_replaces_merges_and_adds(folder):
    whole = launch(written(folder, WHOLE))
    changed = override(
        whole,
        grid=5,
        gpu="h200",
        kernel=None,
        defines={"tile_size_x": 2},
        options=["-G"],
        include=["more"],
        args=(parse_argument("0=f32[100,2]:ones"), parse_argument("n=3"), parse_argument("extra=1")),
    )
    assert (changed.grid, changed.block, changed.gpu) == ((5, 1, 1), whole.block, "h200")
    assert changed.kernel == whole.kernel
    assert changed.defines == {"tile_size_x": "2", "FAST": "1", "NAME": "float"}
    assert changed.options == ("--use_fast_math", "-G")
    assert changed.include == (folder / "headers", Path("more"))
    assert [argument.name for argument in changed.args] == [a.name for a in whole.args] + ["extra"]
    assert (changed.args[0].fill, changed.args[1].value) == ("ones", 3)
    with pytest.raises(InputError, match="aliases 'input', which is not an array"):
        override(whole, args={"input": 3})
    assert launch(whole.path, grid=5) == override(whole, grid=5)


@pytest.mark.parametrize(
    "changes, limit",
    [
        ({"block": (32, 33)}, "1056 threads, more than any GPU allows. The limit is 1024."),
        ({"block": (1, 1, 65)}, "block.z is 65, more than any GPU allows. The limit is 64."),
        ({"grid": (1, 65536)}, "grid.y is 65536, more than any GPU allows. The limit is 65535."),
        ({"grid": (1, 1, 65536)}, "grid.z is 65536"),
        ({"smem": 232449}, "The limit is 232448."),
        ({"grid": 32, "cluster": 32}, "32 blocks, more than any GPU allows. The limit is 16."),
        ({"grid": 7, "cluster": 2}, "grid 7x1x1 is not a multiple of cluster 2x1x1."),
    ],
)
def test_check_names_the_limit(changes, limit):
    with pytest.raises(CommandError) as refusal:
        check(override(launch(grid=1, block=1), **changes))
    assert limit in str(refusal.value)


def test_check_accepts_what_is_at_the_limits():
    check(launch(grid=(2**31 - 1, 65535, 65535), block=(16, 1, 64), smem=232448))
    check(launch(grid=(16, 65535, 3), block=(1, 1024), cluster=16))
