"""Small faults planted in the models: one operator, function, number or branch of the source at a time."""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

OPERATORS: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Div, ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.And: ast.Or, ast.Or: ast.And,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip
FUNCTIONS = {
    "add": "subtract", "subtract": "add", "multiply": "divide", "divide": "multiply", "minimum": "maximum",
    "maximum": "minimum", "min": "max", "max": "min", "ceil": "floor", "floor": "ceil", "greater": "less",
    "less": "greater", "greater_equal": "greater", "less_equal": "less", "equal": "not_equal", "not_equal": "equal",
    "sqrt": "square", "sum": "prod", "log": "log1p", "exp": "expm1", "argmin": "argmax", "argmax": "argmin",
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One changed source."""

    path: Path
    line: int
    change: str
    source: str


def mutants(path: Path) -> list[Mutant]:
    """Every mutant of a file, in the order of its lines."""
    tree = ast.parse(path.read_text("utf-8"))
    nodes = list(ast.walk(tree))
    found = []
    for index, node in enumerate(nodes):
        for change, apply in _changes(node):
            changed = copy.deepcopy(tree)
            apply(list(ast.walk(changed))[index])
            found.append(Mutant(path, getattr(node, "lineno", 0), change, ast.unparse(changed)))
    return sorted(found, key=lambda mutant: mutant.line)


def _changes(node: ast.AST) -> Iterator[tuple[str, "Change"]]:
    """What can be done to one node, in words and as a function on its copy."""
    for field in ("op", "ops"):
        held = getattr(node, field, None)
        first = held[0] if isinstance(held, list) and held else held
        if (other := OPERATORS.get(type(first))) is not None:
            yield f"{type(first).__name__} becomes {other.__name__}", Change(field, other())
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name = node.func.attr
        if name in FUNCTIONS:
            yield f"{name} becomes {FUNCTIONS[name]}", Change("func.attr", FUNCTIONS[name])
        if name == "where" and len(node.args) == 3:
            yield "the branches of where change places", Change("args", "swap")
    if isinstance(node, ast.IfExp):
        yield "the branches of if change places", Change("branches", "swap")
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield f"{node.value} becomes {node.value + 1}", Change("value", node.value + 1)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
        yield "a minus is lost", Change("op", ast.UAdd())


@dataclass(frozen=True)
class Change:
    """Another value for one field of a node."""

    field: str
    value: object

    def __call__(self, node: ast.AST) -> None:
        if self.field == "args":
            node.args[1], node.args[2] = node.args[2], node.args[1]  # type: ignore[attr-defined]
        elif self.field == "branches":
            node.body, node.orelse = node.orelse, node.body  # type: ignore[attr-defined]
        elif self.field == "func.attr":
            node.func.attr = self.value  # type: ignore[attr-defined]
        elif self.field == "ops":
            node.ops[0] = self.value  # type: ignore[attr-defined]
        else:
            setattr(node, self.field, self.value)


def sample(files: list[Path], wanted: int, seed: int = 0) -> list[Mutant]:
    """So many mutants in all, from every file in proportion to what it has (three at least)."""
    draw = Random(seed)
    per_file = [mutants(path) for path in files]
    every = sum(map(len, per_file))
    shares = [min(len(found), max(3, round(wanted * len(found) / every))) for found in per_file]
    return [m for found, share in zip(per_file, shares, strict=True) for m in draw.sample(found, share)]
