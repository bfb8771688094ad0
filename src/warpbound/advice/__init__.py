"""Advice that was tried: variants of a kernel are compiled, executed to equal results, and predicted; goals backwards.

Interface   tried(program, question) -> TriedKernel; the command `warpbound try`, and `analyze --target`.
"""
