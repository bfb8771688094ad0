"""Traits of each SASS opcode: its only description, which all other modules look up.

The entries are in opcodes.toml, one per opcode. `traits(opcode)` never fails: an opcode without an entry has kind
"unknown", and a caller that must know more refuses it by name or counts it.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from warpbound.quick_dataclasses import dataclass
from warpbound.shipped_tables import shipped_table

Families = tuple[tuple[frozenset[str], str], ...]  # modifiers that must all be there, and a table of families.toml
GENERIC = ("global", "shared", "local")  # where a generic address may point
KINDS = (
    "integer", "predicate", "float", "conversion", "matrix", "warpgroup_matrix", "tensor_memory", "collective",
    "special_register", "load", "store", "atomic", "reduction", "copy", "bulk_copy", "constant", "texture", "surface",
    "branch", "call", "exit", "return", "target", "trap", "convergence", "barrier", "fence", "cache_control",
    "scheduling", "other", "unknown",
)  # fmt: skip
RESULTS = ("registers", "predicates", "one_register", "none")
WIDTHS = (
    "",  # one register each; two for the result and the last source of .WIDE
    "single",  # one register, whatever the modifiers say
    "pair",  # two
    "pair_sources",  # two for each source, one for the result
    "pair_if_64",  # two with .64
    "pair_if_typed",  # two with .64, .S64 or .U64
    "typed_sources",  # the same for the sources; the result is one
    "converted",  # by the types that the modifiers name
    "matrix",  # by the shape of the product: its elements are spread over the lanes
    "warpgroup",  # by the shape of the product of four warps
    "columns",  # as many as the opcode states: .x32
    "matrices",  # one for each 8 x 8 matrix: 1, 2 or 4
    "texture",  # four at most
    "special",  # two, with .32 one
)
_WITHOUT_RESULT = frozenset({
    "store", "reduction", "copy", "bulk_copy", "branch", "call", "exit", "return", "target", "trap",
    "convergence", "barrier",
    "fence", "cache_control", "scheduling", "other",
})  # fmt: skip
_ARITHMETIC = frozenset({"integer", "predicate", "float", "conversion", "matrix", "warpgroup_matrix", "collective"})
_LOADING = frozenset({"load", "copy", "bulk_copy", "tensor_memory", "atomic"})
_STORING = frozenset({"store", "copy", "bulk_copy", "tensor_memory", "atomic", "reduction"})
_PUBLISHING = _STORING - {"atomic"} | { "barrier", "call", "trap"}


@dataclass(frozen=True)
class Traits:
    """One opcode; opcodes.toml states what the keys mean.

    kind : one of KINDS. families, early_families : the most demanding first.
    spaces : memory that the address operands point to, in printed order; a generic address counts as global.
    loads : spaces from which it brings values (a copy brings them to shared memory). stores : spaces that it changes.
    result : one of RESULTS. width : one of WIDTHS. uniform : runs once per warp, on the uniform datapath.
    modifiers : those that the emulator understands; None where it looks at none.
    """

    opcode: str
    kind: str = "unknown"
    families: Families = ()
    early_families: Families = ()
    spaces: tuple[str, ...] = ()
    loads: frozenset[str] = frozenset()
    stores: frozenset[str] = frozenset()
    result: str = "registers"
    width: str = ""
    all_predicates: bool = False
    flop: tuple[str, int] | None = None
    tensor: str = ""
    affine: str = ""
    by_lane: bool = False
    passes_unset: bool = False
    waits_for: str = ""
    arrives_at: str = ""
    at_mbarrier: bool = False
    same_in_blocks: bool = False
    index_float: bool = False
    indirect: bool = False
    target_set_by: str = ""
    reconverges: bool = False
    compares: str = ""
    by_tensor_map: bool = False
    no_effect: bool = False
    uniform: bool = False
    modifiers: frozenset[str] | None = None

    @property
    def is_global_load(self) -> bool:
        """Brings values from global memory: loads, atomics that return, copies to shared memory."""
        return "global" in self.loads

    @property
    def is_global_atomic(self) -> bool:
        """Updates global memory in one step, whether or not it returns the old value."""
        return self.kind in ("atomic", "reduction") and "global" in self.spaces

    @property
    def is_generic(self) -> bool:
        """Its address may point to any space."""
        return len(self.loads | self.stores) > len(self.spaces)

    @property
    def is_arithmetic(self) -> bool:
        """Computes registers or predicates from others of its warp, and does nothing else."""
        return self.kind in _ARITHMETIC

    @property
    def is_exit(self) -> bool:
        """Ends the thread, or returns from a function."""
        return self.kind in ("exit", "return")

    @property
    def is_block_barrier(self) -> bool:
        """BAR, the barrier of a block."""
        return self.waits_for == "block"

    @property
    def publishes(self) -> bool:
        """May change what other threads see, or memory of its own; an atomic that returns a value reports it itself."""
        return self.kind in _PUBLISHING


@cache
def table() -> Mapping[str, Traits]:
    """Every described opcode."""
    data = entries()
    lists = {name: frozenset(text.split()) for name, text in data["modifier_lists"].items()}
    kinds = {kind: section for kind, section in data.items() if kind in KINDS}
    plain = {opcode: entry for section in kinds.values() for opcode, entry in section.items()}
    return {
        opcode: _traits(opcode, kind, _inherited(entry, plain), lists)
        for kind, section in kinds.items()
        for opcode, entry in section.items()
    }


@cache
def entries() -> dict[str, Any]:
    """opcodes.toml as it is written."""
    return shipped_table("isa", "opcodes.toml")


def pipe_example(pipe: str) -> str | None:
    """The opcode whose cycles represent the width of a pipe; None where a pipe has none."""
    examples: Mapping[str, str] = entries()["pipe_example"]
    return examples.get(pipe)


def fastest(kind: str) -> Traits:
    """The opcode that does most operations of a type of `flop` in a cycle."""
    return traits(entries()["fastest"][kind])


@cache
def traits(opcode: str) -> Traits:
    """The traits of "LDG"; those of kind "unknown" where the opcode has no entry."""
    return table().get(opcode) or Traits(opcode)


def _inherited(entry: Mapping[str, Any], plain: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    if "like" not in entry:
        return entry
    other = plain[entry["like"]]
    return {key: value for key, value in other.items() if not key.endswith("family")} | dict(entry)


def _traits(opcode: str, kind: str, entry: Mapping[str, Any], lists: Mapping[str, frozenset[str]]) -> Traits:
    spaces = tuple(entry.get("spaces", "").split())
    at, to = (spaces[-1:], spaces[:1]) if kind == "copy" else (spaces, spaces)
    if kind in ("bulk_copy", "tensor_memory"):
        at, to = (tuple(entry.get(end, "").split()) for end in ("from", "to"))
    flop = entry.get("flop", "").split()
    words = entry.get("modifiers")
    return Traits(
        opcode,
        kind,
        families=_families(entry.get("family", {})),
        early_families=_families(entry.get("early_family", {})),
        spaces=tuple("global" if space == "generic" else space for space in spaces),
        loads=_reached(at, kind) if kind in _LOADING else frozenset(),
        stores=_reached(to, kind) if kind in _STORING else frozenset(),
        result=entry.get("result", "none" if kind in _WITHOUT_RESULT else "registers"),
        width=entry.get("width", ""),
        all_predicates=entry.get("all_predicates", False),
        flop=(flop[0], int(flop[1])) if flop else None,
        tensor=entry.get("tensor", ""),
        affine=entry.get("affine", ""),
        by_lane=entry.get("by_lane", False),
        passes_unset=entry.get("passes_unset", False),
        waits_for=entry.get("waits_for", ""),
        arrives_at=entry.get("arrives_at", ""),
        at_mbarrier=entry.get("at_mbarrier", False),
        same_in_blocks=entry.get("same_in_blocks", False),
        index_float=entry.get("index_float", False),
        indirect=entry.get("indirect", False),
        target_set_by=entry.get("target_set_by", ""),
        reconverges=entry.get("reconverges", False),
        compares=entry.get("compares", ""),
        by_tensor_map=entry.get("by_tensor_map", False),
        no_effect=entry.get("no_effect", False),
        uniform=opcode.startswith("U") or opcode == "VOTEU",
        modifiers=None if words is None else frozenset().union(*(lists.get(word, {word}) for word in words.split())),
    )


def _families(family: str | Mapping[str, str]) -> Families:
    table = {"plain": family} if isinstance(family, str) else family
    variants = ((frozenset(words.split(".")) - {"plain"}, name) for words, name in table.items())
    return tuple(sorted(variants, key=lambda variant: -len(variant[0])))


def _reached(spaces: tuple[str, ...], kind: str) -> frozenset[str]:
    """Spaces of the addresses; an atomic on local memory does not exist."""
    if spaces != ("generic",):
        return frozenset(spaces)
    return frozenset(GENERIC) - ({"local"} if kind in ("atomic", "reduction") else set())
