"""Names and quantities that every answer uses: resources that bind, causes of latency, counts, shares, cycles."""

from typing import Annotated, Final, Literal, TypeVar

from msgspec import Meta

SCHEMA_VERSION: Final = "1"
THROUGHPUT_RESOURCES = (
    "issue", "fetch", "alu", "fma", "fp64", "xu", "tensor", "tmem", "uniform", "lsu", "shared", "l1", "l2", "dram",
)  # fmt: skip
RESOURCES = ("latency", *THROUGHPUT_RESOURCES, "launch")
CAUSES = ("issue", "fixed", "shared", "constant", "l1", "l2", "dram", "barrier", "start")  # of a warp's latency
FLOP_KINDS = ("fp16", "bf16", "fp32", "fp64", "tensor")
LIMITERS = ("warps", "blocks", "registers", "shared", "barriers", "tensor memory", "grid")
CLOCK_UNDER_LOAD = "the clock under load"  # causes that widen the interval of a time, beside parameters
OWN_ERROR = "the model\'s own error"

Mode = Literal["dynamic", "static"]

Number = Annotated[float, Meta(ge=0)]  # a count, a time, cycles: integers stay integers in JSON
Space = Annotated[str, Meta(extra_json_schema={"enum": ["global", "shared"]})]
Positive = Annotated[float, Meta(gt=0)]
Fraction = Annotated[float, Meta(ge=0, le=1)]
Whole = Annotated[int, Meta(ge=0)]
AtLeastOne = Annotated[int, Meta(ge=1)]
Sentence = Annotated[str, Meta(min_length=1)]
Interval = Annotated[list[Number], Meta(min_length=2, max_length=2)]
Resource = Annotated[str, Meta(extra_json_schema={"enum": list(RESOURCES)})]
CyclesByResource = Annotated[
    dict[str, Number],
    Meta(
        description="SM cycles of each resource per warp and iteration",
        extra_json_schema={"propertyNames": {"enum": list(RESOURCES)}},
    ),
]
CyclesByCause = Annotated[
    dict[str, Annotated[Number, Meta(description="Cycles")]],
    Meta(
        description="Cycles by cause; they add up to the whole",
        extra_json_schema={"propertyNames": {"enum": list(CAUSES)}},
    ),
]
Limiters = Annotated[
    list[Annotated[str, Meta(extra_json_schema={"enum": list(LIMITERS)})]],
    Meta(description="All that bind", extra_json_schema={"uniqueItems": True}),
]

T = TypeVar("T")
ADDED = Meta(extra_json_schema={"x-added": True})  # since schema_version 1: older answers lack it
Added = Annotated[T, ADDED]
Untyped = Annotated[T, Meta(extra_json_schema={"x-untyped": True})]  # the key is always there, its contents may change
Unpublished = Annotated[T, Meta(extra_json_schema={"x-unpublished": True})]  # in the JSON, but not promised
