"""Arguments by members of structs, arrays of pointers, sizes that name other arguments, bounded random integers."""

from pathlib import Path

import numpy as np
import pytest

import warpbound
from warpbound.errors import CommandError, InputError
from warpbound.kernel_argument import Argument, parse_argument
from warpbound.kernel_launch import contents, pieces

STRUCT = """
struct Inner { short rank; double weight; };
struct P { const float *in; int n; Inner inner[2]; float *out; };
__global__ void scale(P p, float extra) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < p.n) p.out[i] = p.in[i] * (float)p.inner[1].weight + p.inner[0].rank + extra;
}
"""
MEMBERS = {
    "p.in": np.arange(40, dtype=np.float32), "p.n": 40, "p.inner[0].rank": 3, "p.inner[0].weight": 0.0,
    "p.inner[1].rank": 0, "p.inner[1].weight": 2.5, "p.out": np.zeros(40, np.float32), "extra": 0.25,
}  # fmt: skip
ROWS = """
__global__ void total(float **rows, float *sums, int n) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += rows[threadIdx.x][i];
    sums[threadIdx.x] = sum;
}
"""
GATHER = """
__global__ void gather(const float *x, const int *index, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[index[i]];
}
"""


@pytest.mark.cuda
def test_members_of_a_struct_by_name() -> None:
    program = warpbound.compile(STRUCT, "h200")
    arrays = warpbound.run(program, warpbound.launch(grid=2, block=32, args=MEMBERS))
    expected = np.arange(40, dtype=np.float32) * 2.5 + 3.25
    np.testing.assert_array_equal(arrays["p.out"], expected)


@pytest.mark.cuda
def test_members_in_a_launch_file_and_an_alias(tmp_path: Path) -> None:
    tables = ['[[args]]\nname = "p.in"\ndtype = "f32"\nshape = ["p.n"]\nfill = "ones"',
              '[[args]]\nname = "p.n"\nvalue = 8',
              '[[args]]\nname = "p.out"\nalias = "p.in"\noffset = 4']  # fmt: skip
    tables += [f'[[args]]\nname = "p.inner[{i}].{key}"\nvalue = {value}' for i, key, value in (
        (0, "rank", 1), (0, "weight", 0), (1, "rank", 0), (1, "weight", 2))]  # fmt: skip
    tables += ['[[args]]\nname = "extra"\nvalue = 0']
    path = tmp_path / "l.toml"
    path.write_text("grid = 1\nblock = 1\n" + "\n".join(tables))
    arrays = warpbound.run(warpbound.compile(STRUCT, "sm_80"), warpbound.launch(path))
    np.testing.assert_array_equal(arrays["p.in"], [1, 3, 1, 1, 1, 1, 1, 1])


@pytest.mark.cuda
@pytest.mark.parametrize(
    "name, fragment", [("p.m", "no parameter 'p.m'"), ("p.n.x", "no parameter"), ("extra.x", "extra")]
)
def test_a_member_that_is_not_there(name: str, fragment: str) -> None:
    program = warpbound.compile(STRUCT, "h200")
    with pytest.raises(InputError, match=fragment):
        warpbound.run(program, warpbound.launch(grid=1, block=1, args=MEMBERS | {name: 1}))


@pytest.mark.cuda
def test_every_member_is_needed() -> None:
    few = {name: value for name, value in MEMBERS.items() if name != "p.n"}
    with pytest.raises(InputError, match=r"no value for parameter p\.n"):
        warpbound.run(warpbound.compile(STRUCT, "h200"), warpbound.launch(grid=1, block=1, args=few))


@pytest.mark.cuda
def test_an_array_of_pointers() -> None:
    program = warpbound.compile(ROWS, "h200")
    args = [parse_argument(word) for word in ("rows=f32*[5,n]:iota", "sums=f32[5]", "n=7")]
    arrays = warpbound.run(program, warpbound.launch(grid=1, block=5, args=args))
    np.testing.assert_array_equal(arrays["sums"], np.arange(35).reshape(5, 7).sum(1))
    assert arrays["rows"].shape == (5, 7)
    wrong = [parse_argument(word) for word in ("rows=f32[5,7]", "sums=f32*[5,1]", "n=7")]
    with pytest.raises(InputError, match="array of pointers"):
        warpbound.run(program, warpbound.launch(grid=1, block=5, args=wrong))


@pytest.mark.cuda
def test_indices_stay_in_range_and_sizes_name_scalars() -> None:
    words = ("x=f32[n/4]:iota", "index=i32[n]:rand<n/4", "y=f32[n]", "n=4096")
    launch = warpbound.launch(grid=16, block=256, args=[parse_argument(word) for word in words])
    assert [argument.shape for argument in launch.args] == [(1024,), (4096,), (4096,), ()]
    arrays = warpbound.run(warpbound.compile(GATHER, "h200"), launch)
    np.testing.assert_array_equal(arrays["y"], arrays["index"])
    assert arrays["index"].min() >= 0
    assert 1000 < arrays["index"].max() < 1024
    changed = warpbound.launch(grid=1, block=1, args=launch.args)
    assert changed.args[0].shape == (1024,)


def test_a_size_follows_the_scalar_that_it_names(tmp_path: Path) -> None:
    path = tmp_path / "l.toml"
    path.write_text('grid = 1\nblock = 1\n[defines]\nT = 4\n[[args]]\nname = "x"\ndtype = "f32"\nshape = ["n * T", 2]\n'
                    '[[args]]\nname = "n"\nvalue = 8\n')  # fmt: skip
    assert warpbound.launch(path).args[0].shape == (32, 2)
    assert warpbound.launch(path, args={"n": 5}).args[0].shape == (20, 2)
    assert warpbound.launch(path, defines={"T": 1}).args[0].shape == (8, 2)


@pytest.mark.parametrize("dtype", ["i8", "u16", "i32", "u32", "i64", "u64"])
def test_bounded_integers_cover_their_range_evenly_and_piece_by_piece(dtype: str) -> None:
    argument = Argument("x", "array", dtype, (30000,), "rand", 3, below=100)
    whole = contents(argument, 2)
    piece = pieces(argument, 2)
    assert whole is not None
    assert piece is not None
    counts = np.bincount(whole.astype(np.int64), minlength=100)
    assert (len(counts), counts.min() > 200, counts.max() < 400) == (100, True, True)  # 300 of each, sigma 17
    raw = whole.view(np.uint8)
    for start in (0, 64, 6400, 29888):
        np.testing.assert_array_equal(piece(start, start + 64), raw[start : start + 64])


@pytest.mark.parametrize("word, fragment", [
    ("x=f32[4]:rand<4", "random integers"), ("x=i32[4]:iota<4", "random integers"), ("x=i32[4]:rand<0", "below"),
    ("x=f32*[4]", "rows"), ("x=f32[n", "no valid value"), ("x=f32[4,]", "shape"), ("x=f32[-4]", "shape"),
])  # fmt: skip
def test_words_that_are_refused(word: str, fragment: str) -> None:
    with pytest.raises(CommandError) as refused:
        parse_argument(word)
    assert fragment in str(refused.value)


@pytest.mark.parametrize(
    "size, fragment", [("m", "names m"), ("n-9", "at least 1"), ("n+", "not an expression"), ("n/0", "by 0")]
)
def test_sizes_that_cannot_be_computed(size: str, fragment: str) -> None:
    with pytest.raises(InputError) as refused:
        warpbound.launch(grid=1, block=1, args=[parse_argument(f"x=f32[{size}]"), parse_argument("n=8")])
    assert fragment in str(refused.value)
    assert "'x'" in str(refused.value)
