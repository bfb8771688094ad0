"""The rules of the house that no linter knows: sizes, names, who prints, what has a source, words to avoid.

A test lists all offenders in its message, one a line.
"""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import house_figures
import warpbound
from support.paths import ROOT
from warpbound.report.installation import PARTS

SRC = ROOT / "src" / "warpbound"
LONGEST_FILE, LONGEST_FUNCTION = 400, 60
BARE = {  # from whose names no reader guesses what a module holds
    "asked", "asking", "certainty", "counting", "deciding", "desk", "doubts", "found", "given", "held", "imagined",
    "joined", "kept", "many", "moved", "naming", "observed", "passed_on", "said", "seen", "stand_in", "stand_ins",
    "taken", "taking", "told", "touching", "unseen", "ways", "written",
}  # fmt: skip
AWKWARD = re.compile(
    r"(?:^|[.:;!?]\s+|\"\"\"|\*\s+|#\s+|\|\s+)"
    r"(?:Told|Asked|Said|Shown|Given|Kept|Measured|Found|Counted|Left out|Taken|Held|Seen|Missing|So far off)"
    r" (?:is|are|was|were)\b"
)
SUPPORT = ROOT / "tests" / "support"
WHOLE = {"benchmarks", "fuzz", "golden", "mutation", "support"}  # folders of tests that are of no single package
VAGUE = {"util", "utils", "helper", "helpers", "common", "base", "manager", "misc"}
PRINTS = ("cli/", "page/worker.py")  # the one place that prints and exits; a process that answers its parent
DEBTS: dict[str, str] = {}  # "module: equation" whose number in the paper is not known yet -> why
NOT_MEASURED = {"columns", "rows"}  # keys of isa/ whose numbers name architectures


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def assert_none(offenders: Iterable[str]) -> None:
    """Fail with all offenders, one a line."""
    listed = list(offenders)
    assert not listed, "\n".join([f"{len(listed)} offenders", *listed])


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


def test_no_file_is_too_long() -> None:
    sizes = {path: len(path.read_text("utf-8").splitlines()) - literal_lines(tree(path)) for path in PYTHON}
    assert_none(f"{named(path)}: {size} lines" for path, size in sizes.items() if size > LONGEST_FILE)


def test_only_tables_are_exempt() -> None:
    assert literal_lines(ast.parse("A = {\n  1: f(2),\n}\nB = [\n  x for x in y\n]\nC = (\n  lambda: 1,\n)")) == 3


def test_no_function_is_too_long() -> None:
    functions = (
        (path, f)
        for path in PYTHON
        for f in ast.walk(tree(path))
        if isinstance(f, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    sizes = ((path, f, (f.end_lineno or f.lineno) - f.lineno + 1) for path, f in functions)
    assert_none(
        f"{named(path)}:{f.lineno}: {f.name} has {size} lines" for path, f, size in sizes if size > LONGEST_FUNCTION
    )


def module_names(path: Path, top: Path) -> set[str]:
    return {part.removesuffix(".py").strip("_") for part in path.relative_to(top).parts}


def test_names_of_modules_say_what_they_hold() -> None:
    vague = VAGUE | BARE
    assert_none(f"{named(path)}: {word}" for path in PYTHON for word in sorted(vague & module_names(path, SRC)))
    support = sorted(SUPPORT.rglob("*.py"))
    assert_none(f"{named(path)}: {word}" for path in support for word in sorted(vague & module_names(path, SUPPORT)))


# ---------------------------------------------------------------- tests and documents


def test_no_test_imports_a_test() -> None:
    assert_none(house_figures.importing_tests(ROOT))


def test_folders_of_tests_are_those_of_the_package() -> None:
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and any(path.glob("**/test_*.py"))}
    modules = {path.stem for path in SRC.glob("*.py")} | {path.parent.name for path in SRC.glob("*/__init__.py")}
    assert_none(sorted(folders - modules - WHOLE))


def awkward(text: str) -> Iterator[str]:
    """Sentences that put the participle before the subject, and turns of phrase that are not of the field."""
    for number, line in enumerate(text.splitlines(), 1):
        if hit := AWKWARD.search(line):
            yield f"{number}: {hit[0]}"


def test_documents_are_in_plain_order() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    assert_none(f"{named(page)}:{hit}" for page in pages for hit in awkward(page.read_text("utf-8")))


def test_docstrings_and_comments_are_in_plain_order() -> None:
    assert_none(f"{named(path)}:{hit}" for path in PYTHON for hit in awkward(path.read_text("utf-8")))


@pytest.mark.parametrize(
    "text", ["Told were 13,101 for 4096 blocks.", "x. Left out are the rest.", "So far off were measured launches"]
)
def test_an_inversion_is_noticed(text: str) -> None:
    assert len(list(awkward(text))) == 1
    assert list(awkward("It is told. What was told were lies.")) == []


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


def test_only_the_command_line_prints_and_exits() -> None:
    silent = [path for path in PYTHON if not path.relative_to(SRC).as_posix().startswith(PRINTS)]
    assert_none(f"{named(path)}: {place}" for path in silent for place in outward(tree(path)))


def test_printing_is_noticed() -> None:
    text = "print(1)\nsys.exit(1)\nraise SystemExit\nsys.stderr.write('')\nraise SystemExit(2)"
    assert len(list(outward(ast.parse(text)))) == 5


# ---------------------------------------------------------------- papers


def test_a_model_names_its_source_and_its_limits() -> None:
    assert len(PAPERS) >= 15
    assert_none(
        f"{named(path)}: no {heading}"
        for path in PAPERS
        for heading in ("Source", "Models", "Omits")
        if not re.search(rf"^{heading} +\S", ast.get_docstring(tree(path)) or "", re.M)
    )


def test_every_equation_has_its_number() -> None:
    lines = ((path, line.strip()) for path in PAPERS for line in path.read_text("utf-8").splitlines())
    debts = (f"{path.stem}: {line}" for path, line in lines if re.search(r"#\s*eq\.\s*\?", line))
    assert_none(debt for debt in debts if debt not in DEBTS)


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


def unsourced(path: Path) -> Iterator[str]:
    """Numbers of a table without a source, or with one that its file does not have."""
    measured = list(numbers(loaded(path)))
    if not measured and not path.name.endswith("opcodes.toml"):  # which map names to names
        yield "no number"
    for where, sources in measured:
        if not sources:
            yield f"{where} has no source"
        yield from (f"{where}: {word} is not among the sources" for word in sources if word not in known_sources(path))


def test_every_number_has_a_source() -> None:
    assert len(TABLES) >= 40
    assert_none(f"{named(path)}: {what}" for path in TABLES for what in unsourced(path))


def test_a_number_without_a_source_is_noticed() -> None:
    table = {"a": {"value": 1}, "b": {"value": 1, "source": "x"}, "c": {"source": "y", "d": {"e": [2]}}}
    assert list(numbers(table)) == [("a", []), ("b", ["x"]), ("c.d", ["y"])]


# ---------------------------------------------------------------- what is promised exists


def extras() -> dict[str, list[str]]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]


def test_doctor_names_the_extra_that_brings_the_part() -> None:
    assert len(PARTS) >= 5
    for part in PARTS:
        extra = re.search(r"warpbound\[(\w+)\]", part.get)
        assert extra is not None, part
        assert part.distribution in [re.split(r"[^\w-]", line)[0] for line in extras()[extra[1]]], part


def test_hints_name_extras_that_exist() -> None:
    hints = ((path, name) for path in PYTHON for name in re.findall(r"warpbound\[(\w+)\]", path.read_text("utf-8")))
    assert_none(f"{named(path)}: {name}" for path, name in hints if name not in extras())


def test_public_names_resolve() -> None:
    modules = [import_module(package) for package in PACKAGES]
    assert_none(
        f"{module.__name__}.{name}" for module in modules for name in getattr(module, "__all__", ())
        if not hasattr(module, name)
    )  # fmt: skip
    assert len(set(warpbound.__all__)) == len(warpbound.__all__)


def test_every_example_has_its_launch_file() -> None:
    kernels = sorted(path.stem for path in (ROOT / "examples").glob("*.cu"))
    assert len(kernels) >= 10
    assert [stem for stem in kernels if not (ROOT / "examples" / f"{stem}.toml").is_file()] == []


# ---------------------------------------------------------------- decisions


def test_a_decision_says_why() -> None:
    assert DECISIONS
    assert_none(path.name for path in DECISIONS if not re.fullmatch(r"\d{3}-[a-z0-9-]+\.md", path.name))
    headings = {path: re.findall(r"^## (.+)$", path.read_text("utf-8"), re.M) for path in DECISIONS}
    assert_none(
        f"{named(path)}: {', '.join(titles)}"
        for path, titles in headings.items()
        if titles != ["Context", "Decision", "Consequences"]
    )


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


@pytest.mark.parametrize("file", ["broad.txt", "full.txt", "slow.txt"])
def test_tests_that_are_left_to_longer_runs_exist(file: str) -> None:
    """Another name of a test would bring it back into the shorter run without a word."""
    listed = (ROOT / "tests" / file).read_text("utf-8").splitlines()
    functions = {name: name.partition("[")[0].split("::") for name in listed}
    assert_none(
        name
        for name, (path, *_, function) in functions.items()
        if not (ROOT / path).is_file() or f"def {function}(" not in (ROOT / path).read_text("utf-8")
    )
    assert listed == sorted(set(listed))
