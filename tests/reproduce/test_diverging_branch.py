"""The stack of divergence of Volkov's section 2.4, for every mask of four threads."""

from itertools import product

import pytest

from warpbound.reproduce import chosen
from warpbound.reproduce.volkov_2016.basics import issue_order

(ITEM,) = chosen("volkov_2016:tables-2.2-2.4")
CODE = list(ITEM.inputs["simt"])


@pytest.mark.parametrize("condition", list(product((False, True), repeat=4)))
def test_every_thread_executes_its_own_path_once_and_all_meet_again(condition: tuple[bool, ...]) -> None:
    issued = issue_order(CODE, condition)
    for thread, taken in enumerate(condition):
        mine = [one.line for one in issued if one.mask[thread]]
        assert mine == [0, 1, *((2, 3, 4) if taken else (5, 6, 7)), 8]
    assert issued[-1].mask == (True,) * 4
    assert len(issued) == (9 if any(condition) and not all(condition) else 6)
