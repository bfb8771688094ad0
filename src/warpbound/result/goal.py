"""A goal: the change that reaches it, or the certificate that forbids it, and the parts of the time."""

from typing import Annotated

import msgspec
from msgspec import Meta

from warpbound.result.quantities import Fraction, Number, Resource, Sentence, Whole


class CertificateFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A time that no kernel beats which moves these bytes and does these operations on this board."""

    time_s: Annotated[Number, Meta(description="s; 0 where nothing forbids any time")]
    why: Sentence
    needed_bytes: Annotated[Number, Meta(description="Touched by the launch, B")]
    kept_bytes: Annotated[Number, Meta(description="Of these, that L2 may hold already, B")]
    operations: Annotated[Number, Meta(description="Floating-point, of the kind that takes longest; FMA = 2")]
    memory_s: Annotated[Number, Meta(description="Least time of the bytes alone, s")]
    operations_s: Annotated[Number, Meta(description="Least time of the operations alone, s")]


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the time beyond the certificate, in the order of removal."""

    cause: Sentence
    time_s: Number


class LeastChange(msgspec.Struct, frozen=True, kw_only=True):
    """The least change of the demand on one resource, or on two equally, that reaches the goal."""

    resources: list[Resource]
    left: Annotated[Fraction, Meta(description="Share of the demand that may stay")]
    time_s: Number


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """Shapley's share of the time; slack: times its demand may be before the time is 1 % longer, null: beyond 10."""

    resource: Resource
    time_s: Annotated[float, Meta(description="s; all add up to the time")]
    slack: Number | None


class LineSlack(msgspec.Struct, frozen=True, kw_only=True):
    """How much longer a line may take, alone, before the time is 1 % longer; null: more than the model can tell."""

    file: str
    line: Whole
    cycles: Annotated[Number, Meta(description="That it costs a warp")]
    slack: Annotated[Number | None, Meta(description="How many times as long it may take")]
    more_cycles: Annotated[Number | None, Meta(description="How many cycles longer it may take")]


class InstructionSlack(msgspec.Struct, frozen=True, kw_only=True):
    """The same for an instruction of one of these lines; a wait before it issues counts as its own."""

    address: Whole
    text: str
    line: Whole
    cycles: Annotated[Number, Meta(description="That it costs a warp")]
    slack: Annotated[Number | None, Meta(description="How many times as long it may take")]


class Interaction(msgspec.Struct, frozen=True, kw_only=True):
    """Two changes that together gain more than the product of their gains."""

    changes: Annotated[list[Sentence], Meta(min_length=2, max_length=2)]
    alone: Annotated[list[Number], Meta(min_length=2, max_length=2)]
    together: Number


class Goal(msgspec.Struct, frozen=True, kw_only=True):
    """A goal for the time of one launch."""

    target: Annotated[str, Meta(description="As typed")]
    target_s: Number
    reached: Annotated[bool, Meta(description="Whether the launch is that fast already")]
    forbidden: Annotated[bool, Meta(description="Whether the certificate forbids it")]
    certificate: CertificateFacts
    share_of_certificate: Annotated[Number, Meta(description="Certificate over predicted time")]
    gap: list[Part]
    changes: Annotated[list[LeastChange], Meta(description="One resource where one suffices, else pairs")]
    shares: list[Share]
    interactions: list[Interaction]
    lines: Annotated[list[LineSlack], Meta(description="Those that cost a warp most")]
    instructions: Annotated[list[InstructionSlack], Meta(description="Of these lines, those that cost a warp most")]
    critical_line: Annotated[Whole | None, Meta(description="Costs a warp most of what binds")]
