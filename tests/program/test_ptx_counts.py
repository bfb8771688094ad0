"""Hong and Kim's instruction counter: Figure 13, nested loops, pieces as papers print them, what it refuses."""


import pytest

from support.paths import ROOT
from warpbound import InputError
from warpbound.models import hong_kim_2009
from warpbound.program.ptx_counts import Counted, Mix, count_ptx

FIGURE_13 = (ROOT / "examples" / "listings" / "hong_kim_tiled.ptx").read_text()
NESTED = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(
  .param .u64 k_param_0,
  .param .u32 k_param_1
)
.maxntid 256, 1, 1
{
  .reg .f32 %f<4>;
  .loc 1 3 1
  ld.param.u64 %rd1, [k_param_0];
$L1:
  .loc 1 4 5
  ld.global.f32 %f1, [%rd1];   // one
$L2: ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]; add.f32 %f1, %f1, %f2;
  @!%p1 bra.uni $L2;
  bar.sync 0;
  @%p1 bra $L1;
  st.f32 [%rd1], %f1;
  ret;
}
.func (.param .b32 r) helper(.param .b32 a) { atom.shared.add.u32 %r1, [a], 1; red.global.add.u32 [%rd1], 1; ret; }
"""


def one(text: str, trips: dict[str, float] | None = None, lines: frozenset[int] | None = frozenset()) -> Counted:
    return count_ptx(text, "x.ptx", trips, lines)[0]


def test_figure_13() -> None:
    """27 computation, 6 memory, 6 synchronisation instructions: what stands in the loop, three times."""
    found = one(FIGURE_13, {"$OUTERLOOP": 3.0}, None)
    assert found.in_loops == Mix(computation=27, uncoalesced=6, synchronisation=6)
    assert found.total == Mix(computation=27, uncoalesced=7, synchronisation=6)  # with the store behind it
    (loop,) = found.loops
    assert (loop.label, loop.trips, loop.iteration) == ("$OUTERLOOP", 3, Mix(9, uncoalesced=2, synchronisation=2))


def test_table_2_from_the_counts() -> None:
    """The paper counts the loop only; with the store behind it there is a seventh memory period."""
    found = one(FIGURE_13, {"$OUTERLOOP": 3.0}, None)
    cycles = {}
    for name, mix in (("loop", found.in_loops), ("all", found.total)):
        x = hong_kim_2009.Inputs(
            mem_latency=420.0, departure_uncoal=10.0, threads_per_block=128.0, blocks=80.0, active_blocks=5.0,
            active_sms=16.0, comp_insts=mix.computation, uncoal_mem_insts=mix.uncoalesced,
            coal_mem_insts=mix.coalesced, synch_insts=mix.synchronisation, uncoal_per_mw=32.0, load_bytes=128.0,
            mem_bandwidth=80e9, freq=1e9, departure_coal=4.0,
        )  # fmt: skip
        cycles[name] = float(hong_kim_2009.predict(x).total)
    assert cycles["loop"] == pytest.approx(50728.19, rel=1e-6)
    assert cycles["loop"] == pytest.approx(50738, rel=1e-3)  # as printed, from rounded steps
    period = 730 * 20 / 2.28125  # Mem_L N / MWP
    computation = (4 * 34 / 7 - 4 * 33 / 6) * (2.28125 - 1)  # Comp_p (MWP - 1)
    assert cycles["all"] == pytest.approx(cycles["loop"] + period + computation, rel=1e-9)


def test_nested_loops_and_functions() -> None:
    found, helper = count_ptx(NESTED, "x.ptx", {"$L1": 10.0, "$L2": 4.0})
    assert (found.name, helper.name) == ("k", "helper")
    assert [(loop.label, loop.iteration.memory, loop.iteration.computation) for loop in found.loops] == [
        ("$L1", 1, 2), ("$L2", 1, 2),
    ]  # fmt: skip
    assert found.total == Mix(computation=10 * (2 + 4 * 2) + 2, coalesced=10 * (1 + 4) + 1, synchronisation=10)
    assert found.in_loops == Mix(computation=100, coalesced=50, synchronisation=10)
    assert helper.total == Mix(computation=2, coalesced=1)  # atom.shared and ret; red.global


def test_a_loop_without_trips_counts_once() -> None:
    assert one(NESTED).total == Mix(computation=6, coalesced=3, synchronisation=1)
    assert one(NESTED).loops[0].trips is None


def test_as_papers_print_it() -> None:
    lines = FIGURE_13.splitlines()[4:]
    printed = "\n".join(f"{n}: {line} // Branch" for n, line in enumerate(["... // Init Code", "", *lines], start=1))
    assert one(printed, {"$OUTERLOOP": 3.0}, None).total == one(FIGURE_13, {"$OUTERLOOP": 3.0}, None).total


def test_lines_of_uncoalesced_accesses() -> None:
    found = one(FIGURE_13, {"$OUTERLOOP": 3.0}, frozenset({6}))
    assert (found.total.uncoalesced, found.total.coalesced) == (3, 4)


@pytest.mark.parametrize(
    "text, trips, lines, said",
    [
        ("", {}, (), "holds no PTX instruction"),
        ("// nothing\n.version 8.0\n", {}, (), "holds no PTX instruction"),
        ("int main() { return 0; }", {}, (), "line 1: `int main\\(\\)` is not a PTX instruction"),
        (FIGURE_13, {"$L": 3.0}, (), r"has no loop at \$L. Its loops begin at: \$OUTERLOOP"),
        ("ret;", {"$L": 3.0}, (), "Its loops begin at: none"),
        (FIGURE_13, {}, (7,), "line 7 is no access to global or local memory. Those are: 6, 8, 17"),
    ],
)
def test_what_cannot_be_counted(text: str, trips: dict[str, float], lines: tuple[int, ...], said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        count_ptx(text, "x.ptx", trips, lines)
    assert "\n" not in str(refused.value)
