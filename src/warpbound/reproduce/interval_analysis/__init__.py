"""Lecture notes "Interval Analysis": its worked examples."""

ITEMS = (
    "simple_loop",
    "actual_sass",
    "mxv_lcs",
    "comparison_gtx1080",
    "comparison_k20",
    "mxv_lc_s",
    "mxv_per_thread",
    "simulated",
)
