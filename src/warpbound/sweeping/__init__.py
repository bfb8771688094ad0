"""Sweeps: kernels x macros x launches x boards x parameters of boards, on many processes or machines.

In order: `plan` (the input), `work_units` (shares of it), `board_arrays` and `predictions` (their answers),
`storage` (Parquet), `runner` (who computes what), `pareto_fronts`, `parameter_plane` (what
follows from the answers), `text` and `web_page` (for a terminal, for a browser).
"""
