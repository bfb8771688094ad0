"""Samples of stalled warps by reason and program counter.

Source   NVIDIA, Nsight Compute, Kernel Profiling Guide, warp stall reasons; the counters are named
         smsp__pcsamp_warps_issue_stalled_REASON.
"""

from warpbound.nsight.report_file import ProfiledLaunch

PREFIX = "smsp__pcsamp_warps_issue_stalled_"
NOT_ISSUED = "_not_issued"
RENAMED = {
    "lg": "lg throttle", "mio": "mio throttle", "math": "math pipe throttle", "dispatch": "dispatch stall",
    "no_instructions": "no instruction",
}  # fmt: skip


def samples_by_reason(profile: ProfiledLaunch) -> dict[str, dict[int, float]]:
    """Reason in words -> program counter -> samples; empty where warps were not sampled."""
    reasons = {}
    for name in profile.metrics:
        if name.startswith(PREFIX) and not name.endswith(NOT_ISSUED):
            word = name.removeprefix(PREFIX)
            samples = profile.by_address(name)
            if samples:
                reasons[RENAMED.get(word, word.replace("_", " "))] = samples
    return reasons
