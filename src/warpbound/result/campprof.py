"""What partition camping costs one launch: what `campprof predict` prints."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from warpbound.result.quantities import ADDED, Added, AtLeastOne, Number, Sentence

COUNTERS = ("gld_32", "gld_64", "gld_128", "gst_32", "gst_64", "gst_128")
AT_EACH = "Time of the launch at each of them"


class CampingConfiguration(msgspec.Struct, frozen=True):
    """The launch that the counters are of."""

    grid: Annotated[AtLeastOne, Meta(description="Blocks")]
    block: Annotated[AtLeastOne, Meta(description="Threads of a block")]
    warps_per_sm: AtLeastOne
    time_s: float | None


class MemoryBoundProof(msgspec.Struct, frozen=True):
    """Whether the memory binds the launch (section 5.3 of the paper): simulated, each clock 25 % higher."""

    core_elasticity: Annotated[float, Meta(description="Exponent of the speed-up with the SMs' clock")]
    memory_elasticity: Annotated[float, Meta(description="Exponent of the speed-up with the memory's clock")]
    memory_bound: bool
    spread_s: Annotated[
        Number, Meta(description="Time of the same accesses where every partition serves as many, in random order")
    ]


class CampingBand(msgspec.Struct, frozen=True, kw_only=True):
    """Best and worst case of a launch, and where its time lies between them."""

    schema_version: Literal["1"]
    gpu: str
    warps_per_sm: Annotated[
        list[AtLeastOne],
        Meta(
            min_length=1,
            description="Numbers of active warps per SM, rising: those of the micro-benchmarks and the one asked about",
        ),
    ]
    best_s: Annotated[
        list[float],
        Meta(
            description=f"{AT_EACH} if no transaction camps"
        ),
    ]
    worst_s: Annotated[list[float], Meta(description=f"{AT_EACH} if every transaction camps in one partition")]
    application_s: Annotated[
        list[float] | None,
        Meta(
            description=f"{AT_EACH} in constant proportion to the band; null where no time was given or the band is "
            "closed there"
        ),
    ]
    degree: Annotated[
        float | None,
        Meta(
            description="Of camping: 0 at the best case, 1 at the worst, outside where the time is; null where no time "
            "was given or the band is closed there"
        ),
    ]
    advice: Sentence
    configuration: Added[CampingConfiguration]
    counters: Annotated[
        dict[str, Number],
        Meta(
            description="Transactions of the launch by kind and bytes",
            extra_json_schema={"required": list(COUNTERS)},
        ),
        ADDED,
    ]
    equation: Annotated[
        str, Meta(description="Slopes of the regressions", extra_json_schema={"enum": ["published", "by-size"]}), ADDED
    ]
    benchmarks: Annotated[list[str], Meta(description="How the benchmark data were made"), ADDED]
    notes: Added[list[str]]
    proof: Annotated[
        MemoryBoundProof | None, Meta(description="Null where counters were given and nothing was executed"), ADDED
    ] = None


class Predictor(msgspec.Struct, frozen=True):
    """One coefficient of a regression. t : over its standard error. p : chance of such a t if it were 0."""

    coefficient: float
    standard_error: float
    t: float
    p: float


class Regression(msgspec.Struct, frozen=True, kw_only=True):
    """Time of one kind of micro-benchmark over warps and word sizes. selected : predictors that are significant."""

    points: int
    degrees_of_freedom: int
    r_squared: float
    rmse_s: float
    predictors: dict[str, Predictor]
    selected: list[str]


class CampingFit(msgspec.Struct, frozen=True):
    """The regressions: what `campprof fit` prints."""

    equation: str
    regressions: dict[str, Regression]


class ValidatedKernel(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel whose camping is known, at each number of warps. Errors are fractions; degree is null without a band."""

    kernel: str
    camping: str
    warps_per_sm: list[int]
    time_s: list[float]
    best_s: list[float]
    worst_s: list[float]
    degree: list[float]
    best_error: float
    worst_error: float
    line_error: float


class CampingValidation(msgspec.Struct, frozen=True):
    """What `campprof validate` prints."""

    equation: str
    kernels: list[ValidatedKernel]
