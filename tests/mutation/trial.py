"""One mutant against the golden cases of its paper: exit code 1 where a case fails, 0 where all hold.

Arguments: the module that is replaced, the book of golden cases. The changed source comes by standard input.
"""

import importlib.abc
import importlib.util
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

TESTS = Path(__file__).parents[1]


class Planted(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module from a given source instead of its file."""

    def __init__(self, module: str, source: str) -> None:
        self.module, self.source = module, source

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name != self.module:
            return None
        sys.meta_path.remove(self)
        found = importlib.util.find_spec(name)
        sys.meta_path.insert(0, self)
        assert found is not None
        return importlib.util.spec_from_file_location(
            name, found.origin, loader=self, submodule_search_locations=found.submodule_search_locations
        )

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.source, str(module.__file__), "exec"), module.__dict__)


def main(module: str, book: str) -> int:
    """Whether the mutant is noticed."""
    sys.meta_path.insert(0, Planted(module, sys.stdin.read()))
    sys.path.insert(0, str(TESTS))
    try:
        golden = importlib.import_module("support.golden_cases")
        for case in golden.BOOKS[book]["case"]:
            golden.check(golden.BOOKS[book]["module"], case)
    except Exception as noticed:  # noqa: BLE001  (a crash is noticed too)
        sys.stderr.write(f"{type(noticed).__name__}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
