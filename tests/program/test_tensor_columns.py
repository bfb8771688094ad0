"""Columns of tensor memory that code allocates: hand-made listings."""

import pytest

from support.sass_listing import code
from warpbound.program.tensor_columns import tensor_columns

ALLOCATION = "UTCATOMSWS.FIND_AND_SET.ALIGN UP0, UR4, UR7"


def columns(*lines):
    return tensor_columns(code("\n".join(f"B------:R-:W-:-:S01  {line}" for line in lines)))


def test_units_of_32_columns():
    assert columns("UMOV UR7, 0x8", ALLOCATION) == 256


def test_what_was_written_last_counts():
    assert columns("UMOV UR7, 0x2", "UMOV UR7, 0x4", "UMOV UR8, 0x8", ALLOCATION) == 128
    assert columns("UMOV UR7, 0x2", "UIADD3 UR7, UR7, 0x1, URZ", ALLOCATION) == 0


def test_a_second_try_is_the_same_allocation():
    assert columns("UMOV UR7, 0x4", ALLOCATION, "UMOV UR7, 0x4", ALLOCATION) == 128


@pytest.mark.parametrize("line", ["UMOV UR7, 0x8", "UTCATOMSWS.AND URZ, UR7"])
def test_nothing_is_allocated(line):
    assert columns("UMOV UR7, 0x8", line) == 0
