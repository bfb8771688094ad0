"""One kernel as compiled, and the ways to get one: CUDA C++, a cubin, a listing."""

from warpbound.program.kernel import Parameter, Program
from warpbound.program.reading import compile_program, programs

__all__ = ["Parameter", "Program", "compile_program", "programs"]
