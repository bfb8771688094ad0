"""Arguments meet a kernel's parameters, by name or by order."""


import pytest

from warpbound.errors import InputError
from warpbound.kernel_launch import (
    Argument,
    bind,
    launch,
)

# --- arguments to parameters ---


def test_bind_goes_by_name_or_by_order():
    made = launch(grid=1, block=1, args={"b": 1, "a": 2, 2: 3}).args
    assert [argument.value for argument in bind(made, ["a", "b", "c"])] == [2, 1, 3]
    assert [argument.value for argument in bind(made, ["", "", ""])] == [1, 2, 3]


@pytest.mark.parametrize(
    "args, parameters, part",
    [
        ({"lenght": 1}, ["length"], "no parameter 'lenght'. Did you mean 'length'?"),
        ({"a": 1, 1: 1}, ["a"], "argument 1 ('1') is one too many. The kernel has 1 parameters"),
        ({"a": 1, 0: 1}, ["a", "b"], "parameter 0 is given twice"),
        ({"a": 1}, ["a", "b", "c"], "no value for parameters b, c. Add it by --arg b=VALUE"),
        ({"a": 1}, ["", ""], "no value for parameter 1. Add it by --arg 1=VALUE"),
    ],
)
def test_bind_refusals(args, parameters, part):
    with pytest.raises(InputError) as refusal:
        bind(tuple(Argument(name, "scalar", value=value) for name, value in args.items()), parameters)
    assert part in str(refusal.value)
