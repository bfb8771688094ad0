"""All launches with what NumPy says of them, by name."""

from support.emulator import (
    algorithm_cases,
    applied_cases,
    corner_cases,
    example_cases,
    instruction_cases,
    judged_cases,
    modern_cases,
    numeric_cases,
    parallel_cases,
    ptx_cases,
    recursion_cases,
    tensor_cases,
)

CASES = {
    f"{group.__name__.rpartition('.')[2].removesuffix('_cases')}-{name}": make
    for group in (
        example_cases, parallel_cases, numeric_cases, instruction_cases, corner_cases, modern_cases, tensor_cases,
        algorithm_cases, ptx_cases, recursion_cases, judged_cases, applied_cases,
    )
    for name, make in group.CASES.items()
}  # fmt: skip
