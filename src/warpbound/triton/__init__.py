"""Triton kernels: compiled by Triton's own compiler for any board, analysed and executed without a GPU.

result = analyze(kernel, x, y, out, n, grid=(4096,), gpu="h200", BLOCK=1024)   one entry as of warpbound.analyze
arrays = run(kernel, x, y, out, n, grid=(4096,), gpu="h200", BLOCK=1024)       values, by parameter name
pruner(gpu="h200", top_k=5)                                                    for prune_configs_by of triton.autotune
descriptor("f16[64,64]", [32, 32])               a tensor descriptor that the host makes, as an argument
analyzed(gpu="h200")                                                           a decorator: kernel[grid](...) answers

Source   triton 3.9: what the compiler takes and gives, the two hidden pointers behind a kernel's own parameters, and
         that a grid counts clusters, were read off its wheel (extra `triton`).
"""

from warpbound.triton.descriptors import Descriptor, descriptor
from warpbound.triton.launching import Analyzed, analyze, analyzed, run
from warpbound.triton.pruning import Dropped, Pruner, pruner

__all__ = ["Analyzed", "Descriptor", "Dropped", "Pruner", "analyze", "analyzed", "descriptor", "pruner", "run"]
