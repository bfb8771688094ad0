"""The process in which nvJitLink runs: reads a task from standard input, writes the result to standard output."""

import os

from warpbound.program.nvjitlink import answer

MEMORY_B = 8 << 30


def main() -> None:
    """Answer one task."""
    confine()
    asks, tells = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the library writes by itself is no part of the answer
    with tells:
        tells.write(answer(asks.read()))


def confine() -> None:
    """No more memory than MEMORY_B and no core dump, where the system has such limits."""
    try:
        import resource
    except ImportError:
        return
    for kind, most in ((resource.RLIMIT_AS, MEMORY_B), (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(kind)
        limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (limit, limit))


if __name__ == "__main__":
    main()
