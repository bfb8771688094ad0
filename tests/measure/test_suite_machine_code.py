"""What runs is what the protocol demands: the instructions, how many, and who waits for whom."""

from collections import Counter

import pytest

from support.breadth import some_of
from support.compiled_suite import body, compiled, count, decoded, others
from warpbound.measure import (
    costs,
    global_patterns,
    hong_kim,
    instruction_cache,
    instruction_mix,
    l2_partitions,
    latency_distribution,
    loaded_latency,
    mixes,
    pointer_chase,
    shared_patterns,
    synthetic_family,
    wgmma,
    x_model,
)
from warpbound.measure.cubin_build import ARCHITECTURES
from warpbound.measure.instruction_mix.register_banks import conflicting
from warpbound.measure.suite import MECHANISMS, ONE_ARCHITECTURE
from warpbound.program.instruction import Instruction
from warpbound.program.kernel import Program

pytestmark = [pytest.mark.cuda, pytest.mark.usefixtures("disassembled_together")]

LOOP = 14  # instructions that a loop may need for itself
BARE_LOOP = 6  # counting, comparing, jumping
UNAWAITED = {"watch_clock", "hold", "stay", "stamped", "when", "sweep_write", "store_4", "store_8",
             "store_16"}  # fmt: skip  (they store)
SLOW = ("instruction_cache",)  # long to decode
USUAL, OLDEST, NEWEST = 90, 75, 120
COMPILED = some_of((USUAL, NEWEST, OLDEST, *sorted({*ARCHITECTURES} - {USUAL, NEWEST, OLDEST})), 1, 2)
DECODED = some_of((USUAL, NEWEST, *sorted({*ARCHITECTURES} - {USUAL, NEWEST})), 1, 1)
decoded_archs = pytest.mark.parametrize("arch", DECODED)


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("arch", COMPILED)
def test_compiles_without_spills(mechanism: str, arch: int) -> None:
    if ONE_ARCHITECTURE.get(mechanism, arch) != arch:
        return
    made = compiled(mechanism, arch)
    assert {name: spill for name, spill in made.spills.items() if spill != (0, 0)} == {}


@decoded_archs
@pytest.mark.parametrize("name", instruction_mix.names())
@pytest.mark.parametrize("ilp", instruction_mix.ILPS)
def test_one_kind_of_instruction_in_its_own_chains(arch: int, name: str, ilp: int) -> None:
    program = decoded("instruction_mix", arch)[f"{name}_{ilp}"]
    opcode = instruction_mix.OPS[name].opcode if name in instruction_mix.OPS else "HMMA"
    loop = body(program, opcode)
    wanted = instruction_mix.repeated(name)
    assert count(loop, opcode) - wanted in range(3)  # moves of the loop counter may be of the same kind
    assert sum(others(loop, opcode).values()) <= LOOP
    steps = Counter(depths(loop, opcode))
    assert [steps[depth] for depth in range(1, wanted // ilp + 1)] == pytest.approx([ilp] * (wanted // ilp), abs=2)
    assert max(steps) in range(wanted // ilp, wanted // ilp + 3)
    assert program.local_bytes == 0


def depths(instructions: list[Instruction], opcode: str) -> list[int]:
    """For every instruction of a kind: how many of the kind, itself included, come one after the other up to it."""
    return chained(instructions, (opcode,))


def chained(instructions: list[Instruction], opcodes: tuple[str, ...]) -> list[int]:
    """The same for several kinds together."""
    written: dict[int, int] = {}
    found = []
    for one in instructions:
        wide = (0, 1) if one.opcode == "DFMA" else (0,)  # registers of each operand
        target = next((op.index for op in one.operands if op.kind == "register"), -1)
        read = [op.index + part for op in one.operands[1:] if op.kind == "register" for part in wide]
        read += [term.index for op in one.operands for term in op.terms]
        depth = max((written.get(register, 0) for register in read), default=0) + (one.opcode in opcodes)
        if one.opcode in opcodes:
            found.append(depth)
        if target >= 0 and not one.opcode.startswith("ST"):
            written |= {target + part: depth for part in wide}
    return found


@decoded_archs
@pytest.mark.parametrize("name", mixes.OTHERS)
@pytest.mark.parametrize(("adds", "others_"), mixes.shares())
def test_a_mix_is_one_chain_of_both(arch: int, name: str, adds: int, others_: int) -> None:
    if not mixes.clean(name, adds, arch):
        return
    opcode = mixes.OTHERS[name].opcode
    loop = body(decoded("mixes", arch)[f"mix_{name}_{adds}_{others_}"], opcode)
    groups = mixes.groups(adds, others_)
    assert (count(loop, opcode), count(loop, "FADD")) == (groups * others_, groups * adds)
    rest = [one for one in loop if not one.skipped and not one.opcode.startswith((opcode, "FADD"))]
    assert len(rest) <= LOOP
    assert max(chained(loop, (opcode, "FADD"))) == groups * (adds + others_)


@pytest.mark.parametrize("width", wgmma.WIDTHS)
def test_products_of_warp_groups_stand_alone_in_their_loop(width: int) -> None:
    loop = body(decoded("wgmma", 90)[f"wgmma_{width}"], "HGMMA")
    assert count(loop, "HGMMA") == wgmma.REPEATED
    assert sum(others(loop, "HGMMA").values()) <= LOOP
    assert all(f"64x{width}x16" in one.modifiers for one in loop if one.opcode == "HGMMA")


@decoded_archs
@pytest.mark.parametrize("name", ["chase_l1", "chase_l2"])
def test_a_chase_is_loads_that_wait_for_loads(arch: int, name: str) -> None:
    loop = body(decoded("pointer_chase", arch)[name], "LDG")
    assert count(loop, "LDG") == pointer_chase.LOADS_PER_ROUND
    assert sum(others(loop, "LDG").values()) <= LOOP
    assert depths(loop, "LDG") == list(range(1, pointer_chase.LOADS_PER_ROUND + 1))


@decoded_archs
@pytest.mark.parametrize("how", ["ca", "cg"])
@pytest.mark.parametrize("ilp", loaded_latency.ILPS)
def test_a_loaded_chase_adds_one_address_each(arch: int, how: str, ilp: int) -> None:
    """Each load waits for the one `ilp` before it, with one multiplication between them and nothing else."""
    loop = body(decoded("loaded_latency", arch)[f"loaded_{how}_{ilp}"], "LDG")
    loads = loaded_latency.LOADS_PER_ROUND
    assert count(loop, "LDG") == loads
    assert others(loop, "LDG")["IMAD"] - loads in range(3)
    assert sum(others(loop, "LDG").values()) <= loads + BARE_LOOP
    steps = Counter(depths(loop, "LDG"))
    assert [steps[depth] for depth in range(1, loads // ilp + 1)] == [ilp] * (loads // ilp)
    (scope,) = {one.modifiers[2] for one in loop if one.opcode == "LDG"}
    assert scope in {"ca": ("SM", "CTA"), "cg": ("GPU",)}[how]


@decoded_archs
@pytest.mark.parametrize("how", ["ca", "cg"])
def test_one_load_in_eight_is_timed(arch: int, how: str) -> None:
    """Between the two clocks of a turn there is one load, and all its lanes are waited for."""
    program = decoded("latency_distribution", arch)[f"single_{how}"]
    loops = [_body(program, one.blocks) for one in program.flow.loops]
    loading = [loop for loop in loops if count(loop, "LDG") == latency_distribution.BETWEEN + 1]
    (timed,) = [loop for loop in loading if any("CLOCKLO" in one.text for one in loop)]
    (untimed,) = [loop for loop in loading if loop is not timed]  # the warps that load beside it
    assert depths(untimed, "LDG") == list(range(1, latency_distribution.BETWEEN + 2))
    assert sum(others(untimed, "LDG").values()) <= latency_distribution.BETWEEN + 1 + LOOP
    one_load_between_clocks(timed)


@decoded_archs
@pytest.mark.parametrize(("mechanism", "name"), [("pointer_chase", "chase_each"), ("l2_partitions", "map_lines")])
def test_single_loads_are_timed_alone(arch: int, mechanism: str, name: str) -> None:
    program = decoded(mechanism, arch)[name]
    loops = [_body(program, one.blocks) for one in program.flow.loops]
    one_load_between_clocks(min((loop for loop in loops if any("CLOCKLO" in one.text for one in loop)), key=len))


def one_load_between_clocks(loop: list[Instruction]) -> None:
    """Clock, load, wait for it, clock; other loads, if any, behind; the loop may begin anywhere on this way."""
    first, second = (i for i, one in enumerate(loop) if "CLOCKLO" in one.text)
    between = [loop[first + 1 : second], loop[second + 1 :] + loop[:first]]
    timed = min((part for part in between if count(part, "LDG")), key=lambda part: count(part, "LDG"))
    assert count(timed, "LDG") == 1
    kinds = [one.opcode for one in timed]
    assert any("0x7ff12345" in one.text for one in timed[kinds.index("LDG") :])


def _body(program: Program, blocks: frozenset[int]) -> list[Instruction]:
    return [program.instructions[i] for b in sorted(blocks)
            for i in range(program.flow.blocks[b].first, program.flow.blocks[b].last)]  # fmt: skip


@decoded_archs
def test_halves_of_l2_are_chased_like_the_rest(arch: int) -> None:
    found = decoded("l2_partitions", arch)
    for chains in l2_partitions.CHAINS:
        loop = body(found[f"half_of_l2_{chains}"], "LDG")
        assert count(loop, "LDG") == l2_partitions.LOADS_PER_ROUND
        assert sum(others(loop, "LDG").values()) <= l2_partitions.LOADS_PER_ROUND + BARE_LOOP
    tried = body(found["map_lines"], "LDG")
    assert count(tried, "LDG") == 1  # in every try, for its address waits for the one before
    assert sum("CLOCKLO" in one.text for one in tried) == 2


@decoded_archs
@pytest.mark.parametrize("name", instruction_mix.BANKS)
def test_register_banks_meet_where_they_should(arch: int, name: str) -> None:
    """Three different sources of one parity, none of them kept by the instruction before."""
    loop = body(decoded("instruction_mix", arch)[name], "FFMA")
    assert count(loop, "FFMA") == instruction_mix.repeated(name)
    assert sum(others(loop, "FFMA").values()) <= BARE_LOOP
    share = conflicts(loop) / count(loop, "FFMA")
    if name == "banks_same":
        assert share == pytest.approx(conflicting(arch), abs=0.02)
    else:
        assert share < 0.01


def conflicts(loop: list[Instruction]) -> int:
    """FFMA that read three registers of one bank."""
    kept: dict[int, int] = {}
    found = 0
    for one in loop:
        sources = list(enumerate(one.operands[1:]))
        read = {op.index for slot, op in sources if op.kind == "register" and kept.get(slot) != op.index}
        found += one.opcode == "FFMA" and len(read) == 3 and len({index % 2 for index in read}) == 1
        kept = {slot: op.index for slot, op in sources if "reuse" in op.suffixes}
    return found


@decoded_archs
@pytest.mark.parametrize("alpha", synthetic_family.ALPHAS)
def test_alpha_additions_for_each_load(arch: int, alpha: int) -> None:
    loop = body(decoded("synthetic_family", arch)[f"synthetic_{alpha}"], "LDG")
    loads = synthetic_family.groups(alpha)
    assert count(loop, "LDG") == loads
    assert count(loop, "FADD") == alpha * loads
    assert sorted(depths(loop, "FADD")) == list(range(1, alpha * loads + 1))
    assert sum(not one.skipped for one in loop) <= (alpha + 2) * loads + BARE_LOOP  # the load, its address, alpha


@decoded_archs
def test_the_x_models_curves(arch: int) -> None:
    found = decoded("x_model", arch)
    assert count(body(found["supply"], "LDG"), "LDG") == x_model.LOADS
    assert count(body(found["demand"], "FADD"), "FADD") == x_model.ADDS


@decoded_archs
@pytest.mark.parametrize("name", hong_kim.BENCHMARKS)
def test_hong_and_kims_counts(arch: int, name: str) -> None:
    adds, loads = hong_kim.BENCHMARKS[name]
    loop = body(decoded("hong_kim", arch)[name], "FADD")
    assert (count(loop, "FADD"), count(loop, "LDG")) == (adds, loads)


@decoded_archs
@pytest.mark.parametrize("width", shared_patterns.WIDTHS)
def test_shared_accesses_stay_in_the_loop(arch: int, width: int) -> None:
    found = decoded("shared_patterns", arch)
    for kind, opcode in {"load": "LDS", "store": "STS"}.items():
        loop = body(found[f"{kind}_{width}"], opcode)
        assert count(loop, opcode) == shared_patterns.REPEATED
        assert sum(others(loop, opcode).values()) <= LOOP


@decoded_archs
@pytest.mark.parametrize("level", global_patterns.LEVELS)
def test_global_loads_stay_in_the_loop(arch: int, level: str) -> None:
    loop = body(decoded("global_patterns", arch)[f"gather_{level}"], "LDG")
    assert count(loop, "LDG") == global_patterns.REPEATED


@decoded_archs
@pytest.mark.parametrize("name", costs.COSTS)
def test_costs_are_of_what_they_say(arch: int, name: str) -> None:
    """Each statement once, and nothing that the compiler put beside it or made of several."""
    cost = costs.COSTS[name]
    loop = body(decoded("costs", arch)[f"cost_{name}"], cost.opcode)
    if name.startswith("branch"):
        assert count(loop, cost.opcode) in range(cost.repeated, 2 * cost.repeated + 4)
        assert others(loop, cost.opcode)["IMAD"] in range(12 * cost.repeated, 12 * cost.repeated + 4)
        return
    assert count(loop, cost.opcode) == cost.repeated
    beside = {"vote": 1, "fence": 3}.get(name, 0)  # a comparison; what ends and clears beside the fence
    assert sum(others(loop, cost.opcode).values()) <= beside * cost.repeated + BARE_LOOP


@decoded_archs
@pytest.mark.parametrize("name", ["init", "read", "scale", "copy", "triad", "stencil3", "stencil5"])
def test_a_one_shot_stream_has_no_loop_and_no_more_accesses(arch: int, name: str) -> None:
    program = decoded("stream", arch)[name]
    loads = {"init": 0, "read": 1, "scale": 1, "copy": 1, "triad": 2, "stencil3": 3, "stencil5": 5}[name]
    all_of_it = list(program.instructions)
    assert (count(all_of_it, "LDG"), count(all_of_it, "STG")) == (loads, 1)
    assert len({loop.header for loop in program.flow.loops}) <= 1  # the endless one behind the end


@decoded_archs
def test_cache_sweeps_move_sixteen_bytes_at_once(arch: int) -> None:
    found = decoded("cache_bandwidth", arch)
    for name, opcode in {"sweep_l1": "LDG", "sweep_l2": "LDG", "sweep_write": "STG"}.items():
        accesses = [one for one in found[name].instructions if one.opcode == opcode and "128" in one.modifiers]
        assert len(accesses) % 4 == 0
        assert accesses
    ring = body(found["ring"], "LDG")
    assert count(ring, "LDG") == 1
    assert sum(not one.skipped for one in ring) <= LOOP + 1


@pytest.mark.full
@pytest.mark.parametrize("length", instruction_cache.LENGTHS)
def test_straight_code_is_as_long_as_it_says(length: int) -> None:
    loop = body(decoded("instruction_cache", 90)[f"straight_{length}"], "FFMA")
    assert count(loop, "FFMA") == length
    assert sum(others(loop, "FFMA").values()) <= LOOP + length // 1000


@decoded_archs
@pytest.mark.parametrize("mechanism", [name for name in MECHANISMS if name not in SLOW])
def test_the_last_clock_is_read_after_the_result_is_there(arch: int, mechanism: str) -> None:
    """Behind the last loop of a stamped kernel comes a comparison, then an exit under it, then the clock."""
    if ONE_ARCHITECTURE.get(mechanism, arch) != arch:
        return
    for program in decoded(mechanism, arch).values():
        clocks = [i for i, one in enumerate(program.instructions)
                  if one.opcode == "CS2R" and "SR_CLOCKLO" in one.text]  # fmt: skip
        exits = [i for i, one in enumerate(program.instructions) if one.opcode == "EXIT" and one.guard is not None]
        if len(clocks) == 2 and program.name not in UNAWAITED:
            assert any(clocks[0] < at < clocks[1] for at in exits), program.name
