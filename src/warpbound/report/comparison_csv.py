"""Measured beside predicted as CSV: a row for each launch and counter that has both."""

import csv
import io
from collections.abc import Sequence

from warpbound.result.comparison import LaunchComparison, NotCompared

COLUMNS = ("report", "launch", "kernel", "code", "gpu", "mode", "counter", "unit", "measured", "predicted")


def table(launches: Sequence[LaunchComparison | NotCompared]) -> str:
    """The rows, numbers with seven digits; report : the end of its path. code : equal for equal machine code."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for launch in launches:
        if isinstance(launch, NotCompared):
            continue
        report = "/".join(launch.report.replace("\\", "/").split("/")[-2:])
        own = (report, launch.launch_index, launch.kernel, launch.code, launch.gpu, launch.mode)
        writer.writerows(
            (*own, row.name, row.unit, f"{row.measured:.7g}", f"{row.predicted:.7g}")
            for row in launch.counters
            if row.predicted is not None
        )
    return text.getvalue()
