"""Keys of board_parameters.toml that name something elsewhere: each is known there."""

from dataclasses import replace

from warpbound.board_parameters import PARAMETERS
from warpbound.machine import gpu
from warpbound.power.draw import NEEDED, power_parameters
from warpbound.sweeping.board_arrays import ARRAYS
from warpbound.time_model import parameter_fallbacks


def test_rules_of_the_model_are_those_that_parameters_name() -> None:
    assert {x.rule for x in PARAMETERS.values() if x.rule} == set(parameter_fallbacks._RULES)


def test_every_parameter_of_a_group_is_varied_as_an_array() -> None:
    assert set(ARRAYS) == {name for name, x in PARAMETERS.items() if x.varied_with}


def test_a_board_without_one_number_of_its_power_has_no_watts() -> None:
    board = gpu("a100-sxm-40gb")
    assert power_parameters(board) is not None
    for name in NEEDED:
        rest = {other: x for other, x in board.parameters.items() if other != name}
        assert power_parameters(replace(board, parameters=rest)) is None
