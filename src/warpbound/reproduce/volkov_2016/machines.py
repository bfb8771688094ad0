"""The five machines of the thesis, from inputs.toml."""

from warpbound.reproduce.item import Given
from warpbound.reproduce.synthetic.machine import Machine, printed


def machines(given: Given) -> dict[str, Machine]:
    """All five, oldest first."""
    return {name: printed(name, given["machines"][name]) for name in given["gpus"]}
