"""Statements of host code: effects of branches, loops and declarations on the variables.

If a condition is known, one branch is executed; if not, both are, and variables that differ become unknown. A branch
that ends the program or the function is assumed to handle a mistake of the user, and is left out if the condition is
unknown. Loops are executed as long as their condition is known, up to a limit; then everything that they change becomes
unknown.
"""

from collections.abc import Callable, Iterable
from typing import Any

from warpbound.program.host_interpreter.expressions import evaluate
from warpbound.program.host_interpreter.interpretation import Interpretation
from warpbound.program.host_interpreter.state import ProgramEnds
from warpbound.program.host_interpreter.syntax import (
    declarator_of,
    parsed_expression,
    plain_type,
    text_of,
)
from warpbound.program.host_interpreter.values import (
    Cell,
    HostArray,
    Pointer,
    Struct,
    Unknown,
    is_number,
    remaining,
    shown,
    truth,
)
from warpbound.quick_dataclasses import dataclass

PASSES = 70  # passes of a loop that are executed one by one, for one entry
ALL_PASSES = 300  # the same over all entries of the loop
_EXIT = "exit"


@dataclass(frozen=True)
class _Outcome:
    """A branch that was tried: what ended it, the new values, the value returned."""

    ending: str
    after: dict[Cell, Any]
    result: Any


def execute(host: Interpretation, node: Any) -> str:
    """Execute a statement; what ends it: "", "break", "continue" or "return"."""
    host.spend()
    rule = _RULES.get(node.type)
    if rule is not None:
        return rule(host, node)
    if node.type in _CONTAINERS:
        return _run(host, node.named_children)
    if node.type.endswith(("_expression", "identifier", "_function")):
        evaluate(host, node)
    return ""


def _run(host: Interpretation, nodes: Iterable[Any]) -> str:
    for node in nodes:
        if ending := execute(host, node):
            return ending
    return ""


def _block(host: Interpretation, node: Any) -> str:
    host.frame.scopes.append({})
    depth = len(host.frame.scopes)
    try:
        return _run(host, node.named_children)
    finally:
        del host.frame.scopes[depth - 1 :]


def _expression(host: Interpretation, node: Any) -> str:
    for child in node.named_children:
        evaluate(host, child)
    return ""


def _return(host: Interpretation, node: Any) -> str:
    value = next((child for child in node.named_children if child.type != "comment"), None)
    if value is not None:
        host.frame.result = host.copied(host.initial(value, ""))
    return "return"


# --- branches ---


def _tried(host: Interpretation, run: Callable[[], str]) -> _Outcome:
    with host.tried() as after:
        try:
            ending = run()
        except ProgramEnds:
            ending = _EXIT
        result = host.frame.result
    return _Outcome(ending, after, result)


def _commit(host: Interpretation, outcome: _Outcome) -> str:
    for cell, value in outcome.after.items():
        host.write(cell, value)
    if outcome.ending == "return":
        host.frame.result = outcome.result
    if outcome.ending == _EXIT:
        raise ProgramEnds
    return outcome.ending


def _if(host: Interpretation, node: Any) -> str:
    then, other = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
    host.frame.scopes.append({})  # of a declaration in the condition
    try:
        condition = evaluate(host, node.child_by_field_name("condition"))
        if text_of(node).startswith("if constexpr") and isinstance(condition, Unknown):
            condition = Unknown()
        truth_value = truth(condition)
        if truth_value is None:
            return _choose(host, condition, [lambda: _optional(host, then), lambda: _optional(host, other)])
        branch, other_branch = (then, other) if truth_value else (other, then)
        host.explore(other_branch, lambda: _optional(host, other_branch))
        outcome = _tried(host, lambda: _optional(host, branch))
        if _ends_program(host, outcome.ending):  # usage(): as if the user had given what it asks for
            host.frame.result = Unknown()
            return _optional(host, other_branch)
        return _commit(host, outcome)
    finally:
        host.frame.scopes.pop()


def _optional(host: Interpretation, node: Any) -> str:
    return "" if node is None else execute(host, node)


def _ends_program(host: Interpretation, ending: str) -> bool:
    return ending == _EXIT or (ending == "return" and host.frame.function == "main")


def _choose(host: Interpretation, condition: Any, branches: list[Callable[[], str]]) -> str:
    """Execute all branches of an unknown condition, and merge those that do not end."""
    outcomes = [_tried(host, branch) for branch in branches]
    going = [outcome for outcome in outcomes if outcome.ending in ("", "break")]
    if not going:
        alive = [outcome for outcome in outcomes if outcome.ending != _EXIT] or outcomes
        host.frame.maybe += [outcome.result for outcome in alive[:-1] if outcome.ending == "return"]
        return _commit(host, alive[-1])
    host.frame.maybe += [outcome.result for outcome in outcomes if outcome.ending == "return"]
    cells = dict.fromkeys(cell for outcome in going for cell in outcome.after)
    for cell in cells:
        value = going[0].after.get(cell, cell.value)
        for outcome in going[1:]:
            value = merged(value, outcome.after.get(cell, cell.value), condition, cell.name)
        host.write(cell, value)
    return "break" if all(outcome.ending == "break" for outcome in going) else ""


def merged(first: Any, second: Any, condition: Any, name: str) -> Any:
    """The value of a variable that two branches leave differently."""
    if first is second or (not isinstance(first, Struct) and first == second):
        return first
    if isinstance(first, Struct) and isinstance(second, Struct):
        cells = {}
        for key in first.fields.keys() & second.fields.keys():
            before, after = first.fields[key], second.fields[key]
            cells[key] = Cell(merged(before.value, after.value, condition, f"{name}.{key}"), before.type, key)
        return Struct(first.type, {key: cells[key] for key in first.fields if key in cells})
    for value, after in ((first, second), (second, first)):
        if isinstance(value, Pointer) and not isinstance(value.target, Cell) and not isinstance(after, Struct):
            return value if isinstance(after, Unknown | int) else Pointer(value.target, Unknown(), value.type)
    if is_number(first) and is_number(second) and isinstance(condition, Unknown) and condition.text:
        return remaining(f"{condition.text} ? {shown(first)} : {shown(second)}")
    return Unknown(name)


def _switch(host: Interpretation, node: Any) -> str:
    value = evaluate(host, node.child_by_field_name("condition"))
    cases = [child for child in node.child_by_field_name("body").named_children if child.type == "case_statement"]

    def run_from(first: int) -> Callable[[], str]:
        def run() -> str:
            for case in cases[first:]:
                label = case.child_by_field_name("value")
                if ending := _run(host, [child for child in case.named_children if child != label]):
                    return "" if ending == "break" else ending
            return ""

        return run

    labels = [case.child_by_field_name("value") for case in cases]
    default = next((i for i, label in enumerate(labels) if label is None), None)
    if is_number(value):
        hit = next(
            (i for i, label in enumerate(labels) if label is not None and evaluate(host, label) == value), default
        )
        for i, case in enumerate(cases):
            if i != hit:
                host.explore(case, run_from(i))
        return "" if hit is None else run_from(hit)()
    branches = [run_from(i) for i in range(len(cases))]
    if default is None:
        branches.append(lambda: "")
    return _choose(host, Unknown(), branches)


# --- loops ---


def _for(host: Interpretation, node: Any) -> str:
    host.frame.scopes.append({})
    try:
        first = node.child_by_field_name("initializer")
        if first is not None:
            execute(host, first)
        return _loop(host, node, node.child_by_field_name("condition"), node.child_by_field_name("update"))
    finally:
        host.frame.scopes.pop()


def _while(host: Interpretation, node: Any) -> str:
    return _loop(host, node, node.child_by_field_name("condition"), None)


def _do(host: Interpretation, node: Any) -> str:
    ending = execute(host, node.child_by_field_name("body"))
    if ending in ("break", "return"):
        return "" if ending == "break" else ending
    return _loop(host, node, node.child_by_field_name("condition"), None)


def _loop(host: Interpretation, node: Any, condition: Any, update: Any) -> str:
    body = node.child_by_field_name("body")
    for _ in range(PASSES):
        truth_value = True if condition is None else truth(evaluate(host, condition))
        if truth_value is False:
            host.explore(body, lambda: execute(host, body))
            return ""
        host.passes[node.id] = host.passes.get(node.id, 0) + 1
        if truth_value is None or host.passes[node.id] > ALL_PASSES:
            break
        ending = execute(host, body)
        if ending in ("break", "return"):
            return "" if ending == "break" else ending
        if update is not None:
            evaluate(host, update)
    return _widened(host, body, update)


def _widened(host: Interpretation, body: Any, update: Any) -> str:
    """One pass more, with all that the loop changes unknown before and after it."""

    def run() -> str:
        ending = execute(host, body)
        if update is not None and not ending:
            evaluate(host, update)
        return ending

    for _ in range(2):
        outcome = _tried(host, run)
        for cell in outcome.after:
            host.write(cell, unknown_after_loop(cell.value, cell.name))
    return ""


def unknown_after_loop(value: Any, name: str) -> Any:
    """The remainder of a value that a loop changes: a pointer keeps its array, but not the offset."""
    if isinstance(value, Struct):
        cells = {
            key: Cell(unknown_after_loop(cell.value, f"{name}.{key}"), cell.type, key)
            for key, cell in value.fields.items()
        }
        return Struct(value.type, cells)
    if isinstance(value, Pointer) and not isinstance(value.target, Cell):
        return Pointer(value.target, Unknown(), value.type)
    return Unknown(name)


def _range_loop(host: Interpretation, node: Any) -> str:
    host.frame.scopes.append({})
    try:
        name = declarator_of(node.child_by_field_name("declarator")).name
        host.declare(name, Unknown(name), plain_type(text_of(node.child_by_field_name("type"))))
        return _widened(host, node.child_by_field_name("body"), None)
    finally:
        host.frame.scopes.pop()


# --- declarations ---


def declaration(host: Interpretation, node: Any) -> str:
    """Declare the variables of a declaration with their first values."""
    kind = node.child_by_field_name("type")
    if kind is None:
        return ""
    if kind.type == "enum_specifier":
        host.enumerate(kind)
    base = host.resolved("auto" if kind.type == "placeholder_type_specifier" else plain_type(text_of(kind)))
    is_static = any(text_of(child) == "static" for child in node.children if child.type == "storage_class_specifier")
    for each in node.children_by_field_name("declarator"):
        _declare(host, each, base, node.id if is_static else None)
    return ""


def _declare(host: Interpretation, node: Any, base: str, static: int | None) -> None:
    parts = declarator_of(node)
    value = node.child_by_field_name("value")
    kind = base + "*" * parts.stars
    if parts.parameters is not None and not parts.stars:
        inner = [child for child in parts.parameters.named_children if child.type != "comment"]
        if not inner or not parts.name:
            return  # a prototype
        nodes = [parsed_expression(text_of(child)) for child in inner]
        host.declare(parts.name, host.constructed(kind, [evaluate(host, node) for node in nodes]), kind)
        return
    if parts.extents:
        host.declare(parts.name, _array(host, parts.extents, value, kind), kind)
    elif value is None:
        host.declare(parts.name, host.constructed(kind, []), kind)
    elif parts.reference and (cell := host.place_of(value)) is not None:
        host.frame.scopes[-1][parts.name] = cell
    else:
        first = host.initial(value, kind)
        if isinstance(first, Pointer) and kind.endswith("*") and isinstance(first.target, HostArray):
            first.target.type = first.target.type or kind[:-1]
        host.declare(
            parts.name, host.copied(first), first.type if base == "auto" and isinstance(first, Struct) else kind
        )


def _array(host: Interpretation, extents: tuple[Any, ...], value: Any, kind: str) -> HostArray:
    cells: dict[int, Cell] = {}
    if value is not None and value.type == "initializer_list":
        inner = [child for child in value.named_children if child.type != "comment"]
        cells = {i: Cell(host.initial(child, kind), kind) for i, child in enumerate(inner)}
    count: Any = 1
    for extent in extents:
        size = len(cells) if extent is None else evaluate(host, extent)
        count = size * count if isinstance(size, int) and isinstance(count, int) else Unknown()
    return HostArray(kind, count, cells)


def _catch(host: Interpretation, node: Any) -> str:
    body = node.child_by_field_name("body")
    return "" if body is None else execute(host, body)


_CONTAINERS = frozenset({
    "ERROR", "labeled_statement", "else_clause", "preproc_if", "preproc_ifdef", "preproc_else", "case_statement",
    "translation_unit", "declaration_list", "linkage_specification",
})  # fmt: skip
_RULES: dict[str, Callable[[Interpretation, Any], str]] = {
    "compound_statement": _block, "expression_statement": _expression, "declaration": declaration, "if_statement": _if,
    "switch_statement": _switch, "for_statement": _for, "while_statement": _while, "do_statement": _do,
    "for_range_loop": _range_loop, "return_statement": _return, "break_statement": lambda *_: "break",
    "continue_statement": lambda *_: "continue", "try_statement": _catch, "init_statement": lambda host, node:
    _run(host, node.named_children),
}  # fmt: skip
