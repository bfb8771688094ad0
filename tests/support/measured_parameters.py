"""Which parameters of the catalogue a run of `warpbound measure` gives, and why not the others."""

from collections.abc import Iterator

from warpbound.board_parameters import PARAMETERS, Parameter

DRIVER = "the driver"  # among `Parameter.measured_by`; the others are folders of `warpbound.measure`
_OTHER_PRODUCTS = "no kernel of this type yet; the vendor's rate has a fixed ratio to that of FP16"
_ARCHITECTURE = "the architecture's, {}; set it for hypothetical machines"


def table() -> Iterator[str]:
    """Markdown: parameters with the same answer share a row, in the catalogue's order."""
    yield "| parameters | measured by, or why not |"
    yield "|---|---|"
    rows: dict[str, list[str]] = {}
    for name, parameter in PARAMETERS.items():
        mechanisms = ", then ".join(word if word == DRIVER else f"`{word}`" for word in parameter.measured_by)
        rows.setdefault(mechanisms or f"not measured: {why_not(parameter)}", []).append(f"`{name}`")
    for words, names in rows.items():
        yield f"| {', '.join(names)} | {words} |"


def why_not(parameter: Parameter) -> str:
    """Why no mechanism gives a parameter; empty where the definition gives no reason."""
    if parameter.not_measured:
        return parameter.not_measured
    if parameter.fallback == "tensor_fp16":
        return _OTHER_PRODUCTS
    return _ARCHITECTURE.format(parameter.fallback) if parameter.fallback.startswith("isa/") else ""
