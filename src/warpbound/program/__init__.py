"""Programs: compiled kernels, read from CUDA C++, PTX, cubins, fat binaries or listings."""

from warpbound.program.kernel import Parameter, Program
from warpbound.program.source_files import compile_program, programs

__all__ = ["Parameter", "Program", "compile_program", "programs"]
