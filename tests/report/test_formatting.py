"""Words of reports."""

from warpbound.report.formatting import count


def test_counts_have_their_plurals() -> None:
    assert [count(n, "launch") for n in (0, 1, 2)] == ["no launches", "1 launch", "2 launches"]
    assert [count(2, noun) for noun in ("block", "pass")] == ["2 blocks", "2 passes"]
