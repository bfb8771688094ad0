"""Basic blocks, dominators and loops against their definitions, on random graphs and on every example."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.compiled_examples import ARCHITECTURES, EXAMPLES, build
from warpbound.program.control_flow import Flow, dominates, flow
from warpbound.program.instruction import Instruction
from warpbound.program.nvdisasm_listing import read_listing
from warpbound.program.operands import split_instruction

# ---------------------------------------------------------------- definitions, as slow as they are plain


def reach(follows: list[tuple[int, ...]], roots: list[int], without: int | None = None) -> set[int]:
    """Nodes that some root leads to along edges that do not touch `without`."""
    seen: set[int] = set()
    pending = [root for root in roots if root != without]
    while pending:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            pending += [after for after in follows[node] if after != without]
    return seen


def all_dominators(follows: list[tuple[int, ...]], roots: list[int]) -> dict[int, set[int]]:
    """node -> every node without which it cannot be reached."""
    whole = reach(follows, roots)
    cut = {node: whole - reach(follows, roots, without=node) for node in whole}
    return {node: {above for above in whole if node in cut[above]} for node in whole}


def natural_loops(follows: list[tuple[int, ...]], roots: list[int]) -> dict[int, set[int]]:
    """header -> nodes that reach a back edge to it without passing through it."""
    above = all_dominators(follows, roots)
    loops: dict[int, set[int]] = {}
    for tail in above:
        for header in follows[tail]:
            if header in above[tail]:
                body = {node for node in above if node != header and tail in reach(follows, [node], without=header)}
                loops.setdefault(header, {header}).update(body | {tail})
    return loops


# ---------------------------------------------------------------- random programs


def instruction(at: int, text: str) -> Instruction:
    guard, opcode, modifiers, operands = split_instruction(text)
    return Instruction(16 * at, opcode, modifiers, operands, text, guard=guard)


def assemble(ends: list[tuple[str, int]]) -> Flow:
    """One label and two instructions per block: a NOP and what ends it, with the block it names."""
    rows = ["\t.target\tsm_80", '\t.section\t.text.k,"ax",@progbits']
    for block, (end, target) in enumerate(ends):
        rows += [f".L_x_{block}:", f"        /*{32 * block:04x}*/  NOP ;"]
        rows += [f"        /*{32 * block + 16:04x}*/  {end.format(f'`(.L_x_{target})')} ;"]
    section = read_listing("\n".join(rows), "random").sections[0]
    return flow(section.instructions, section.labels.values())


BRANCHES = {  # text: whether it may fall through, whether it may jump
    "NOP": (True, False),
    "EXIT": (False, False),
    "@P0 EXIT": (True, False),
    "@!PT EXIT": (True, False),
    "BRA {}": (False, True),
    "@P1 BRA {}": (True, True),
    "@P1 BRA P2, {}": (True, True),
    "BRA P2, {}": (True, True),
    "BRA.U !UP0, {}": (True, True),
    "BRA.U UPT, {}": (False, True),
    "BRA.DIV UR4, {}": (True, True),
    "BRA.CONV ~URZ, {}": (True, True),
    "BPT.TRAP 0x1": (False, False),
}


@st.composite
def programs(draw: st.DrawFn) -> list[tuple[str, int]]:
    count = draw(st.integers(1, 14))
    return [(draw(st.sampled_from(sorted(BRANCHES))), draw(st.integers(0, count - 1))) for _ in range(count)]


def edges(ends: list[tuple[str, int]]) -> list[tuple[int, ...]]:
    found = []
    for block, (end, target) in enumerate(ends):
        falls, jumps = BRANCHES[end]
        after = {block + 1} if falls and block + 1 < len(ends) else set()
        found.append(tuple(sorted(after | ({target} if jumps else set()))))
    return found


@settings(max_examples=300, deadline=None)
@given(programs())
def test_random_programs(ends: list[tuple[str, int]]) -> None:
    found = assemble(ends)
    assert [(block.first, block.last) for block in found.blocks] == [(2 * i, 2 * i + 2) for i in range(len(ends))]
    assert [tuple(sorted(block.follows)) for block in found.blocks] == edges(ends)
    assert_definitions(found, [0])


def assert_definitions(found: Flow, roots: list[int]) -> None:
    follows = [block.follows for block in found.blocks]
    above = all_dominators(follows, roots)
    assert found.reachable == set(above)
    for node, dominating in above.items():
        for other in above:
            assert dominates(found.dominators, other, node) == (other in dominating)
        strict = dominating - {node}
        nearest = next((one for one in strict if all(far in above[one] for far in strict)), None)
        assert found.dominators[node] == nearest
    loops = natural_loops(follows, roots)
    assert {loop.header: set(loop.blocks) for loop in found.loops} == loops
    for loop in found.loops:
        around = [one for one in found.loops if loop.header in one.blocks and one is not loop]
        assert loop.depth == 1 + len(around)
        if around:
            assert loop.parent is not None
            assert found.loops[loop.parent] == min(around, key=lambda one: len(one.blocks))


# ---------------------------------------------------------------- single cases


def blocks(text: str, functions: tuple[int, ...] = ()) -> Flow:
    rows = [line.strip() for line in text.strip().splitlines()]
    listing = ["\t.target\tsm_80", '\t.section\t.text.k,"ax",@progbits']
    at = 0
    for row in rows:
        listing.append(row if row.endswith(":") else f"  /*{at:04x}*/  {row} ;")
        at += 0 if row.endswith(":") else 16
    section = read_listing("\n".join(listing), "case").sections[0]
    return flow(section.instructions, section.labels.values(), functions or section.functions)


def test_a_call_returns_behind_it_and_its_function_is_reached() -> None:
    found = blocks("""
        CALL.REL.NOINC `($k$f)
        EXIT
        $k$f:
        @P0 FADD R0, R0, R0
        RET.REL.NODEC R2 `(k)
    """)
    assert [block.follows for block in found.blocks] == [(1,), (), ()]
    assert found.reachable == {0, 1, 2}


def test_a_call_by_address_may_reach_every_function_but_no_other_label() -> None:
    found = blocks("""
        CALL.REL.NOINC R6 `(k)
        EXIT
        $k$f:
        RET.REL.NODEC R2 `(k)
        $k$g:
        RET.REL.NODEC R2 `(k)
        .L_x_9:
        BRA `(.L_x_9)
    """)
    assert found.reachable == {0, 1, 2, 3}
    assert found.loops == ()


def test_a_branch_table_leads_where_it_says_only() -> None:
    found = blocks("""
        BRX R2 -0x10 (*"BRANCH_TARGETS .L_x_1,.L_x_2"*)
        .L_x_0:
        EXIT
        .L_x_1:
        EXIT
        .L_x_2:
        EXIT
    """)
    assert found.blocks[0].follows == (2, 3)


def test_an_indirect_branch_without_a_table_may_lead_to_any_label() -> None:
    found = blocks("""
        BRX R2 -0x10
        .L_x_0:
        EXIT
        .L_x_1:
        EXIT
    """)
    assert found.blocks[0].follows == (1, 2)


def test_a_kernel_without_instructions_has_no_blocks() -> None:
    assert flow((), ()).blocks == ()


# ---------------------------------------------------------------- compiled code


@pytest.mark.cuda
@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples(path: Path, arch: int) -> None:
    for program in build(path, arch).programs:
        found = program.flow
        starts = {block.first for block in found.blocks}
        assert [block.first for block in found.blocks[1:]] == [block.last for block in found.blocks[:-1]]
        assert (found.blocks[0].first, found.blocks[-1].last) == (0, len(program.instructions))
        callees = set()
        for one in program.instructions:
            for operand in one.operands:
                if operand.kind != "label" or one.opcode == "RET":
                    continue
                assert operand.index == 0, one.text
                assert int(operand.value) // 16 in starts, one.text
                if one.opcode == "CALL":
                    callees.add(int(operand.value) // 16)
        number = {block.first: i for i, block in enumerate(found.blocks)}
        assert_definitions(found, sorted({0, *(number[start] for start in callees)}))
