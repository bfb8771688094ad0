"""The rules of the house that no linter knows: sizes, names, who prints, what has a source."""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

import warpbound
from support.paths import ROOT
from warpbound.report.installation import PARTS

SRC = ROOT / "src" / "warpbound"
LONGEST_FILE, LONGEST_FUNCTION = 400, 60
VAGUE = {"util", "utils", "helper", "helpers", "common", "base", "manager", "misc"}
PRINTS = ("cli/", "page/worker.py")  # the one place that prints and exits; a process that answers its parent
DEBTS: dict[str, str] = {}  # "module: equation" whose number in the paper is not known yet -> why
NOT_MEASURED = {"columns", "rows"}  # keys of isa/ whose numbers name architectures


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def each(paths: list[Path]) -> Any:
    return pytest.mark.parametrize("path", paths, ids=named)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), str(path))


@cache
def tracked() -> tuple[Path, ...]:
    """Files under version control; in an unpacked archive, the files that a build does not make."""
    try:
        done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return tuple(p for p in sorted(ROOT.rglob("*")) if p.is_file() and not _made(p))
    return tuple(path for name in done.stdout.split("\0") if name and (path := ROOT / name).is_file())


def _made(path: Path) -> bool:
    folders = path.relative_to(ROOT).parts[:-1]
    return any(part == "__pycache__" or part.startswith(".") and part != ".ci" for part in folders)


PYTHON = sorted(SRC.rglob("*.py"))
PAPERS = [path for path in PYTHON if "models" in path.parts and path != SRC / "models" / "__init__.py"]
PACKAGES = ["warpbound", *sorted(f"warpbound.{path.parent.name}" for path in SRC.glob("*/__init__.py"))]
TABLES = [path for folder in ("gpus", "isa") for path in sorted((SRC / folder).glob("*.toml"))]
SCHEMAS = sorted(SRC.rglob("schema/*.json"))
DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))


# ---------------------------------------------------------------- sizes and names


def literal_lines(module: ast.Module) -> int:
    """Lines of tables at the top level of a module: containers of constants, names and plain calls."""
    return sum(
        (node.end_lineno or node.lineno) - node.lineno + 1
        for node in module.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and _is_table(node.value)
    )


def _is_table(value: ast.expr) -> bool:
    container = isinstance(value, ast.Dict | ast.List | ast.Tuple | ast.Set)
    code = (ast.Lambda, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp, ast.IfExp)
    return container and not any(isinstance(part, code) for part in ast.walk(value))


@each(PYTHON)
def test_no_file_is_too_long(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) - literal_lines(tree(path)) <= LONGEST_FILE


def test_only_tables_are_exempt() -> None:
    assert literal_lines(ast.parse("A = {\n  1: f(2),\n}\nB = [\n  x for x in y\n]\nC = (\n  lambda: 1,\n)")) == 3


@each(PYTHON)
def test_no_function_is_too_long(path: Path) -> None:
    functions = [n for n in ast.walk(tree(path)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    sizes = {f"{f.name}, line {f.lineno}": (f.end_lineno or f.lineno) - f.lineno + 1 for f in functions}
    assert {name: size for name, size in sizes.items() if size > LONGEST_FUNCTION} == {}


@each(PYTHON)
def test_names_say_something(path: Path) -> None:
    assert not VAGUE & {part.removesuffix(".py").strip("_") for part in path.relative_to(SRC).parts}


# ---------------------------------------------------------------- who prints, who exits


def outward(module: ast.Module) -> Iterator[str]:
    """Places that print or end the process."""
    for node in ast.walk(module):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name in ("print", "exit", "quit", "sys.exit", "os._exit", "SystemExit"):
                yield f"{name}, line {node.lineno}"
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Name) and node.exc.id == "SystemExit":
            yield f"SystemExit, line {node.lineno}"
        elif isinstance(node, ast.Attribute) and ast.unparse(node) in ("sys.stdout", "sys.stderr"):
            yield f"{ast.unparse(node)}, line {node.lineno}"


@each([path for path in PYTHON if not named(path).removeprefix("src/warpbound/").startswith(PRINTS)])
def test_only_the_command_line_prints_and_exits(path: Path) -> None:
    assert list(outward(tree(path))) == []


def test_printing_is_noticed() -> None:
    text = "print(1)\nsys.exit(1)\nraise SystemExit\nsys.stderr.write('')\nraise SystemExit(2)"
    assert len(list(outward(ast.parse(text)))) == 5


# ---------------------------------------------------------------- papers


@each(PAPERS)
def test_a_model_names_its_source_and_its_limits(path: Path) -> None:
    text = ast.get_docstring(tree(path)) or ""
    missing = [heading for heading in ("Source", "Models", "Omits") if not re.search(rf"^{heading} +\S", text, re.M)]
    assert missing == []


@each(PAPERS)
def test_every_equation_has_its_number(path: Path) -> None:
    debts = [
        f"{path.stem}: {line.strip()}"
        for line in path.read_text("utf-8").splitlines()
        if re.search(r"#\s*eq\.\s*\?", line)
    ]
    assert [debt for debt in debts if debt not in DEBTS] == []


# ---------------------------------------------------------------- numbers and their sources


def loaded(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text("utf-8"))


@cache
def known_sources(path: Path) -> frozenset[str]:
    """Keys of [sources] in a file, or in the file beside it that serves the whole folder."""
    return frozenset(loaded(path).get("sources") or loaded(path.parent / "families.toml")["sources"])


def numbers(table: dict[str, Any], names: tuple[str, ...] = ()) -> Iterator[tuple[str, list[str]]]:
    """(dotted table, source keys that it or a table around it gives) of tables that hold numbers themselves."""
    for key, value in table.items():
        if isinstance(value, dict) and (names or key not in {"sources", *NOT_MEASURED}):
            found = [word for name, part in value.items() if "source" in name for word in _words(part)]
            inner = [(where, own or found) for where, own in numbers(value, (*names, key))]
            plain = any(_numeric(part) for name, part in value.items() if name not in NOT_MEASURED)
            yield from ([(".".join((*names, key)), found)] if plain else []) + inner


def _numeric(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_numeric, value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _words(value: Any) -> list[str]:
    """Source keys in a value: one word, a list, or a table by architecture."""
    if isinstance(value, str):
        return [value]
    return [word for part in (value.values() if isinstance(value, dict) else value) for word in _words(part)]


@each(TABLES)
def test_every_number_has_a_source(path: Path) -> None:
    found = list(numbers(loaded(path)))
    assert found or path.name.endswith("opcodes.toml")  # which map names to names
    assert [where for where, sources in found if not sources] == []
    assert [(where, word) for where, sources in found for word in sources if word not in known_sources(path)] == []


def test_a_number_without_a_source_is_noticed() -> None:
    table = {"a": {"value": 1}, "b": {"value": 1, "source": "x"}, "c": {"source": "y", "d": {"e": [2]}}}
    assert list(numbers(table)) == [("a", []), ("b", ["x"]), ("c.d", ["y"])]


@each(SCHEMAS)
def test_schemas_are_schemas(path: Path) -> None:
    schema = msgspec.json.decode(path.read_bytes())
    validator = jsonschema.validators.validator_for(schema, default=None)
    assert validator is not None, "no $schema"
    validator.check_schema(schema)
    for example in schema.get("examples", []):
        validator(schema).validate(example)


def test_there_is_a_schema_for_the_launch_file() -> None:
    assert SRC / "report" / "schema" / "launch.json" in SCHEMAS


# ---------------------------------------------------------------- what is promised exists


def extras() -> dict[str, list[str]]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.distribution)
def test_doctor_names_the_extra_that_brings_the_part(part: Any) -> None:
    extra = re.search(r"warpbound\[(\w+)\]", part.get)
    assert extra is not None
    brought = [re.split(r"[^\w-]", line)[0] for line in extras()[extra[1]]]
    assert part.distribution in brought


@each(PYTHON)
def test_hints_name_extras_that_exist(path: Path) -> None:
    assert {name for name in re.findall(r"warpbound\[(\w+)\]", path.read_text("utf-8"))} <= set(extras())


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_resolve(package: str) -> None:
    module = import_module(package)
    assert [name for name in getattr(module, "__all__", ()) if not hasattr(module, name)] == []
    assert len(set(warpbound.__all__)) == len(warpbound.__all__)


def test_every_example_has_its_launch_file() -> None:
    kernels = sorted(path.stem for path in (ROOT / "examples").glob("*.cu"))
    assert len(kernels) >= 10
    assert [stem for stem in kernels if not (ROOT / "examples" / f"{stem}.toml").is_file()] == []


# ---------------------------------------------------------------- decisions


@each(DECISIONS)
def test_a_decision_says_why(path: Path) -> None:
    assert re.fullmatch(r"\d{3}-[a-z0-9-]+\.md", path.name)
    headings = re.findall(r"^## (.+)$", path.read_text("utf-8"), re.M)
    assert headings == ["Context", "Decision", "Consequences"]


def test_decisions_are_numbered_once() -> None:
    taken = [path.name[:3] for path in DECISIONS]
    assert len(taken) == len(set(taken))


# ---------------------------------------------------------------- nothing of our machines

MACHINE_PATH = re.compile(r"(?<![\w.~$}/-])/(?:home|Users|root|work|mnt|scratch|tmp)/\w|\b[A-Z]:\\\\?\w")


def test_no_file_names_a_path_of_somebodys_machine() -> None:
    found = []
    for path in tracked():
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{named(path)}: {hit[0]}" for hit in MACHINE_PATH.finditer(text)]
    assert found == []


@pytest.mark.parametrize("text", ["/" + "home/me/x.cu", "(" + "/" + "root/x)", "C:" + "\\x"])
def test_such_a_path_is_noticed(text: str) -> None:
    assert MACHINE_PATH.search(text)
