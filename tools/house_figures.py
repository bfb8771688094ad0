"""Counts what a reader of the sources has to hold in mind: lines, tables of names, reads by string, vague names.

    python tools/house_figures.py [CHECKOUT ...]

One column for each checkout (by default this one), so that two states of the project can be compared. It needs only
Python's standard library and imports nothing of the project.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

_PARTICIPLES = (  # without "bound" and "left" (a side), which are nouns here
    "added allowed answered asked begun booked called carried chosen compared compiled computed counted covered "
    "decided done drawn executed expected fitted followed found given grown held joined judged kept known launched "
    "listed made marked measured met moved named needed passed played predicted printed put ranked read said "
    "sampled seen sent served shown spent stated stood taken told touched tried used wanted written"
)
PARTICIPLES = frozenset(_PARTICIPLES.split())
OPCODE = re.compile(r"[A-Z][A-Z0-9_]+(?:\.[A-Z0-9_.]+)?")
FEWEST = 2  # names that make a table
ANSWERS = ("analysis", "cli", "page", "report", "whatif")  # where an answer is made, passed on and shown


@cache
def opcodes(package: Path) -> frozenset[str]:
    """Mnemonics in the tables of isa/, keys or words, without modifiers."""
    files = (tomllib.loads(path.read_text("utf-8")) for path in sorted((package / "isa").glob("*opcodes.toml")))
    sections = [(name, part) for table in files for name, part in table.items() if isinstance(part, dict)]
    keys = {key for name, part in sections if "modifier" not in name for key in part}
    families = [words for name, part in sections if name == "opcodes" for words in part.values()]
    words = keys | {word for family in families for word in family.split()}
    return frozenset(word.partition(".")[0] for word in words if OPCODE.fullmatch(word))


@cache
def modifiers(package: Path) -> tuple[frozenset[str], ...]:
    """Of each opcode that lists them; some are also names of opcodes (IMAD.MOV, MUFU.RCP)."""
    table = tomllib.loads((package / "isa" / "opcodes.toml").read_text("utf-8"))
    entries = [entry for part in table.values() for entry in part.values() if isinstance(entry, dict)]
    return tuple(frozenset(entry["modifiers"].split()) for entry in entries if "modifiers" in entry)


@cache
def parameters(package: Path) -> frozenset[str]:
    """Names of parameters in the files of boards."""
    files = (tomllib.loads(path.read_text("utf-8")) for path in sorted((package / "gpus").glob("*.toml")))
    return frozenset(name for board in files for name in board.get("parameters", {}))


@cache
def trees(package: Path) -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text("utf-8"), str(path)) for path in sorted(package.rglob("*.py"))}


def tables(
    package: Path, names: frozenset[str], share: float, others: Iterable[frozenset[str]] = ()
) -> Iterator[tuple[Path, int]]:
    """(file, such names) of every table at the top of a module of whose words that share at least are such names.

    others : sets of words; a table with words of one set alone does not count.
    """
    for path, tree in trees(package).items():
        for node in tree.body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                words = list(_words(node.value))
                of_these = sum(word.partition(".")[0] in names for word in words)
                is_other = any(other.issuperset(words) for other in others)
                if of_these >= FEWEST and of_these >= share * len(words) and not is_other:
                    yield path, of_these


def _words(value: ast.expr) -> Iterator[str]:
    for node in ast.walk(value):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from node.value.split()


def string_reads(package: Path) -> list[Path]:
    """The files of all reads like `entry["time_s"]` and `entry.get("time_s")`."""
    return [path for path, tree in trees(package).items() for node in ast.walk(tree) if _is_string_read(node)]


def _is_string_read(node: ast.AST) -> bool:
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        key: object = node.slice
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        key = node.args[0]
    else:
        return False
    return isinstance(key, ast.Constant) and isinstance(key.value, str)


def bound_names(package: Path) -> Iterator[str]:
    """Every name that an assignment, a loop or a signature binds, but for the keys of the JSON, which are fixed."""
    for path, tree in trees(package).items():
        structs = [x for x in ast.walk(tree) if isinstance(x, ast.ClassDef)] if path.parent.name == "result" else []
        keys = {id(x.target) for each in structs for x in each.body if isinstance(x, ast.AnnAssign)}
        for node in ast.walk(tree):
            if id(node) not in keys and isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id
            elif isinstance(node, ast.arg):
                yield node.arg


def figures(checkout: Path) -> dict[str, int]:
    """What is counted -> how many."""
    package = checkout / "src" / "warpbound"
    names = list(bound_names(package))
    in_all_modules = tables(package, opcodes(package), 0.5, modifiers(package))
    of_opcodes = [(path, words) for path, words in in_all_modules if path.parent.name != "isa"]
    of_parameters = list(tables(package, parameters(package), 0.1))
    reads = string_reads(package)
    tests = sorted((checkout / "tests").rglob("*.py"))
    return {
        "src: Python files": len(trees(package)),
        "src: lines of Python": sum(_lines(path) for path in trees(package)),
        "src: lines of JSON schemas": sum(map(_lines, package.rglob("schema/*.json"))),
        "tables of opcodes outside isa/": len(of_opcodes),
        "  their files": len({path for path, _ in of_opcodes}),
        "  their entries": sum(words for _, words in of_opcodes),
        "tables of board parameters": len(of_parameters),
        "  files of these": len({path for path, _ in of_parameters}),
        "  names in them": sum(words for _, words in of_parameters),
        "reads by a string key": len(reads),
        "  where answers are made and shown": sum(path.relative_to(package).parts[0] in ANSWERS for path in reads),
        "participles bound as names": sum(name in PARTICIPLES for name in names),
        "names `one`": names.count("one"),
        "tests: Python files": len(tests),
        "tests: lines of Python": sum(map(_lines, tests)),
        "tests that import a test": len(importing_tests(checkout)),
        "docs: words": sum(len(path.read_text("utf-8").split()) for path in (checkout / "docs").rglob("*.md")),
        "README: lines": _lines(checkout / "README.md"),
    }


def importing_tests(checkout: Path) -> list[str]:
    """Files below tests/ that import from a file of tests."""
    pattern = re.compile(r"^\s*(?:from|import) +(?:[a-z_.]+\.)?test_\w+", re.M)
    files = sorted((checkout / "tests").rglob("*.py"))
    return [path.relative_to(checkout).as_posix() for path in files if pattern.search(path.read_text("utf-8"))]


def _lines(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines())


def main(checkouts: list[Path]) -> None:
    columns = [list(figures(checkout).items()) for checkout in checkouts]
    width = max(len(name) for name, _ in columns[0])
    for row in zip(*columns, strict=True):
        counts = "".join(f"{count:>10,}" for _, count in row)
        sys.stdout.write(f"{row[0][0]:<{width}}{counts}\n")


if __name__ == "__main__":
    main([Path(word) for word in sys.argv[1:]] or [Path(__file__).resolve().parents[1]])
