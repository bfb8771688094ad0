"""Where the example kernels are: in an installed package, or next to the sources in a checkout."""

from pathlib import Path


def folder() -> Path:
    """The folder of the examples; one that does not exist where there are none."""
    here = Path(__file__).parent
    inside = here / "examples"
    return inside if inside.is_dir() else here.parents[1] / "examples"
