"""The measured loop of a kernel that one kind of instruction fills, between two stamps."""

PARAMETERS = "u64 *stamps, int rounds, u32 zero, u32 one, u32 stride"


def around(name: str, ahead: str, once: str, times: int, seen: str, after: str = "") -> str:  # noqa: PLR0913
    """The measured loop between two stamps; `once` stands in it `times` times, then `after`."""
    return f"""KERNEL {name}({PARAMETERS}) {{
{ahead}    u64 start = cycle();
    #pragma unroll 1
    for (int i = 0; i < rounds; i++) {{
        #pragma unroll
        for (int k = 0; k < {times}; k++) {{{once} }}
{after}    }}
    wait_for({seen});
    stamp(stamps, start, cycle());
}}
"""
