"""Register counts of kernels whose code is a proxy for an architecture that no available compiler supports.

Source   an SM of 6.x and 7.0 has 2048 threads and 65536 registers, 32 for each thread. An SM of 7.5 has 1024 threads,
         so the compiler for sm_75 uses more registers: 39 and 70 for kernels of corpus `products` for which the
         compiler for sm_80 (2048 threads) uses 32 and 38. The smaller number decides how many blocks fit.
Omits    the instructions that fewer registers would cost; PTX.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from warpbound.errors import InputError
from warpbound.program.compiler_output import Compiled
from warpbound.program.cubin import read_cubin
from warpbound.program.kernel import Program

AS_MANY_THREADS = 80  # the oldest architecture with a compiler and 2048 threads on an SM
FREE = 32  # registers of a thread with which such an SM holds all its threads
NOTE = "{likely} registers a thread, as code for sm_80 has, whose SM holds as many threads; that of {isa} has {own}"


def with_likely_registers(kernels: Sequence[Program], compile_for: Callable[[int], Compiled]) -> tuple[Program, ...]:
    """The programs; proxies with more than FREE registers get at most the registers of code for sm_80.

    compile_for : the same source for sm_<argument>; where that is refused, programs keep their registers.
    """
    if not any(kernel.proxy_isa and kernel.registers > FREE for kernel in kernels):
        return tuple(kernels)
    try:
        output = compile_for(AS_MANY_THREADS)
    except InputError:
        return tuple(kernels)
    facts = read_cubin(output.cubin, kernels[0].source_name).kernels
    return tuple(
        _likely(kernel, max(FREE, facts[kernel.name].registers)) if kernel.name in facts else kernel
        for kernel in kernels
    )


def _likely(program: Program, registers: int) -> Program:
    if not program.proxy_isa or program.registers <= registers:
        return program
    note = NOTE.format(likely=registers, isa=program.proxy_isa, own=program.registers)
    return replace(program, registers=registers, assumed=(*program.assumed, note))
