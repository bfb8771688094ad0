"""The process in which NVRTC of another release runs: a task on standard input, the answer on standard output.

With the path of a library as argument it prints the library's description.
"""

import os
import sys

import msgspec

from warpbound.program.nvrtc_release import Task, answer, description


def main() -> None:
    """Answer one task, or describe one library."""
    tells = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the library writes by itself is no part of the answer
    with tells:
        if len(sys.argv) > 1:
            tells.write(description(sys.argv[1]).encode())
            return
        task = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Task)
        tells.write(msgspec.msgpack.encode(answer(task)))


if __name__ == "__main__":
    main()
