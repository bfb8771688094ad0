"""Limits that the architecture sets for a launch."""

from warpbound.errors import InputError
from warpbound.kernel_launch import Launch, check
from warpbound.program.kernel import Program
from warpbound.residency import occupancy

CLUSTERS_FROM = 90


def check_accepted(program: Program, launch: Launch) -> None:
    """Raise InputError or CommandError for a launch that no GPU of the code's architecture accepts.

    Proxy code for another architecture must only meet the limits that all architectures share.
    """
    check(launch)
    x, y, z = launch.block
    threads, shared = x * y * z, program.shared_bytes + launch.smem
    if program.max_threads is not None and threads > program.max_threads:
        raise InputError(
            f"{program.title} was compiled for at most {program.max_threads} threads per block, not {threads}.",
            "Choose a smaller block or another __launch_bounds__.",
        )
    if program.proxy_isa:
        return
    if program.arch < CLUSTERS_FROM and launch.cluster not in (None, (1, 1, 1)):
        raise InputError(f"{program.title}: sm_{program.arch} has no clusters of blocks; sm_90 is the first.")
    result = occupancy(f"sm_{program.arch}", threads, program.registers, shared)
    if result.blocks_per_sm == 0:
        uses = {"registers": f"{program.registers} registers per thread", "shared": f"{shared} bytes of shared memory"}
        demands = " and ".join(uses.get(limiter, limiter) for limiter in result.limiters)
        raise InputError(
            f"{program.title}: a block of {threads} threads with {demands} does not fit on an SM of sm_{program.arch}.",
            " ".join(step.sentence for step in result.next_step) or "Use a smaller block.",
        )
