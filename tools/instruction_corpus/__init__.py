"""Kernels in the languages of Python and CUDA C++, with NumPy's results: what today's compilers emit, and what of it is
executed. `tools/instruction_table.py` compiles them and writes docs/instructions.md."""
