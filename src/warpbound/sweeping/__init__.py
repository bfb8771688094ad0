"""Sweeps: kernels x macros x launches x boards x parameters of boards, on many processes or machines.

In order: `plan` (what is asked), `work_units` (shares of it), `board_arrays` and `predicting` (their answers),
`storage` (Parquet), `running` (who computes what), `findings`, `plane` (what the
answers say), `text` and `web_page` (for a terminal, for a browser).
"""
