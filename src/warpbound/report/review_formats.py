"""Differences of answers in the formats of other tools: SARIF, Bencher, github-action-benchmark.

Source   SARIF 2.1.0 (OASIS standard, sections 3.13, 3.27); Bencher Metric Format (bencher.dev, "Adapters", JSON);
         github-action-benchmark (README, "customSmallerIsBetter").
"""

from collections.abc import Callable, Iterator
from typing import Any

from warpbound.result.review import Diff, KernelChange, KernelState

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
RULES = {
    "slower": "A kernel is predicted to take longer than before.",
    "broken": "A kernel has no prediction any more.",
    "faster": "A kernel is predicted to take less time than before.",
    "changed": "A kernel is answered in another way than before.",
    "removed": "A kernel is no longer there.",
    "added": "A kernel is new.",
    "repaired": "A kernel has a prediction now.",
}
LEVELS = {"slower": "warning", "broken": "warning"}


def sarif(diff: Diff) -> dict[str, Any]:
    """A SARIF log: a result for each kernel that changed, at its most expensive line; errors where the gate fails."""
    changed = [kernel for kernel in diff.kernels if kernel.significant]
    rules = [{"id": name, "shortDescription": {"text": words}} for name, words in RULES.items()]
    driver = {"name": "warpbound", "informationUri": "https://pypi.org/project/warpbound/", "rules": rules}
    results = [_result(kernel) for kernel in changed]
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": results}]}


def _result(kernel: KernelChange) -> dict[str, Any]:
    region = {"startLine": kernel.line or 1}
    location = {"artifactLocation": {"uri": kernel.file.replace("\\", "/")}, "region": region}
    return {
        "ruleId": kernel.direction,
        "level": "error" if kernel.fails else LEVELS.get(kernel.direction, "note"),
        "message": {"text": f"{kernel.name} on {kernel.gpu}: {kernel.reason}"},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"kernel/v1": f"{kernel.file}:{kernel.name}:{kernel.gpu}"},
    }


def bencher(diff: Diff) -> dict[str, Any]:
    """Bencher Metric Format: the present time of each kernel in ns with its interval, or cycles in static mode."""
    return {name: dict(_metrics(state)) for name, state in _present(diff)}


def _metrics(state: KernelState) -> Iterator[tuple[str, dict[str, float]]]:
    if state.time_s is not None:
        low, high = state.time_interval_s or [state.time_s, state.time_s]
        ends = {"lower_value": 1e9 * low, "upper_value": 1e9 * high}
        yield "latency", {"value": 1e9 * state.time_s, **ends}
    elif state.cycles_per_warp is not None:
        yield "cycles-per-warp", {"value": state.cycles_per_warp}
    for key in ("registers", "spill_bytes"):
        if (value := getattr(state, key)) is not None:
            yield key.replace("_", "-"), {"value": float(value)}


def github_action_benchmark(diff: Diff) -> list[dict[str, Any]]:
    """Entries of `tool: customSmallerIsBetter`."""
    entries = []
    for name, state in _present(diff):
        if state.time_s is not None:
            low, high = state.time_interval_s or [state.time_s, state.time_s]
            half = f"± {0.5e6 * (high - low):.4g}"
            extra = f"{state.bottleneck} binds, {state.registers} registers"
            entries.append({"name": name, "unit": "us", "value": 1e6 * state.time_s, "range": half, "extra": extra})
        elif state.cycles_per_warp is not None:
            entries.append({"name": name, "unit": "cycles per warp", "value": state.cycles_per_warp})
    return entries


def _present(diff: Diff) -> Iterator[tuple[str, KernelState]]:
    for kernel in diff.kernels:
        if kernel.after is not None and not kernel.after.error:
            yield f"{kernel.name} on {kernel.gpu} ({kernel.after.launch or kernel.file})", kernel.after


FORMATS: dict[str, Callable[[Diff], Any]] = {
    "sarif": sarif, "bencher": bencher, "github-action-benchmark": github_action_benchmark,
}  # fmt: skip
