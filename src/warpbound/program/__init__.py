"""One kernel as compiled, and the ways to get one: CUDA C++, PTX, a cubin or what holds some, a listing."""

from warpbound.program.kernel import Parameter, Program
from warpbound.program.source_files import compile_program, programs

__all__ = ["Parameter", "Program", "compile_program", "programs"]
