"""Reports as text, JSON and HTML.

`warpbound.report(path)` is a public name too: it reads a report of Nsight Compute. Python puts this package under that
name once it is imported, so the package can be called as that function.
"""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any


class _CallableReport(ModuleType):
    def __call__(self, path: str | Path) -> Any:
        """`warpbound.nsight.report`."""
        from warpbound.nsight import report

        return report(path)


sys.modules[__name__].__class__ = _CallableReport
