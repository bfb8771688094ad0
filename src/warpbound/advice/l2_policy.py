"""Which array L2 keeps: an access-policy window of the launch, or streaming hints on the others in the source.

Source   memory/l2_priorities, for the effect of both.
Models   Arrays that fit into a window are kept; those that do not fit L2 at all are streamed.
Omits    Other kernels that use L2 between two launches; windows of parts of arrays.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from warpbound.advice.syntax import Edit, KernelSource, element, inside, is_written, line, words
from warpbound.advice.variant import Question, Variant, with_text
from warpbound.kernel_launch import Launch
from warpbound.machine import Gpu
from warpbound.memory.l2_priorities import keepable
from warpbound.result.kernel import KernelResult

MECHANISM = "L2 policy"


def windows(question: Question, board: Gpu) -> Iterator[Variant]:
    """Each array that an access-policy window may keep in L2."""
    if question.launch.persist is None:
        for name, size_B in keepable(board, sizes(question.launch)).items():
            after = replace(question, launch=replace(question.launch, persist=name))
            change = f"{name} ({size_B / 1e6:.3g} MB) kept in L2 by an access-policy window"
            yield Variant(MECHANISM, change, "launch", after, apply=f"--persist {name}")


def streamed(question: Question, kernel: KernelSource, board: Gpu) -> Iterator[Variant]:
    """Every array that does not fit L2 loaded by `__ldcs` and stored by `__stcs`, where L2 could keep another one."""
    arrays, l2_B = sizes(question.launch), board.get("l2_size") or 0.0
    subscripted = {element(each) for each in inside(kernel.body, ("subscript_expression",))}
    names = {name for name, size_B in arrays.items() if size_B > l2_B and name in subscripted and _plain(kernel, name)}
    if not names or not subscripted & keepable(board, arrays).keys():
        return
    text = _rendered(kernel, kernel.body, frozenset(names))
    first = next(each for each in inside(kernel.body, ("subscript_expression",)) if element(each) in names)
    change = f"{' and '.join(sorted(names))} streamed (__ldcs, __stcs), so that L2 keeps the other arrays"
    edit = Edit(kernel.body.start_byte, kernel.body.end_byte, text)
    yield with_text(question, MECHANISM, change, kernel.edited([edit]), line(first))


def reads_dram_again(entry: KernelResult, board: Gpu) -> bool:
    """Whether a launch uses more data than L2 holds, and DRAM sends some of it."""
    memory = entry.memory
    return (memory.dram_bytes_read or 0.0) > 0 and (memory.touched_bytes or 0.0) > (board.get("l2_size") or 0.0)


def sizes(launch: Launch) -> dict[str, int]:
    """Bytes of each array of the launch that has a name."""
    return {str(each.name): each.size_B for each in launch.args if each.kind == "array" and isinstance(each.name, str)}


def _plain(kernel: KernelSource, name: str) -> bool:
    """Whether the kernel changes elements of an array by assignments alone, each a statement of its own."""
    for each in inside(kernel.body, ("subscript_expression",)):
        if element(each) == name and is_written(each):
            parent = each.parent
            if parent.type != "assignment_expression" or parent.parent.type != "expression_statement":
                return False
    return True


def _rendered(kernel: KernelSource, node: Any, names: frozenset[str]) -> str:
    """The text of a node with accesses to these arrays by intrinsics."""
    if node.type == "assignment_expression" and element(node.child_by_field_name("left")) in names:
        return _stored(kernel, node, names)
    text = _inside_of(kernel, node, names)
    is_load = node.type == "subscript_expression" and element(node) in names
    return f"__ldcs(&{text})" if is_load else text


def _inside_of(kernel: KernelSource, node: Any, names: frozenset[str]) -> str:
    """The same where the node itself stays as it is."""
    parts, at = [], node.start_byte
    for child in node.children:
        parts += [kernel.code[at : child.start_byte].decode(), _rendered(kernel, child, names)]
        at = child.end_byte
    return "".join([*parts, kernel.code[at : node.end_byte].decode()])


def _stored(kernel: KernelSource, node: Any, names: frozenset[str]) -> str:
    """An assignment to an element as a call; one that also reads it loads it by its own call."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    sign = words(node.child_by_field_name("operator"))
    place, value = f"&{_inside_of(kernel, left, names)}", _rendered(kernel, right, names)
    return f"__stcs({place}, {value if sign == '=' else f'__ldcs({place}) {sign[:-1]} ({value})'})"
