"""What the host code of a program launches: what `launches` prints."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from warpbound.result.quantities import AtLeastOne, Sentence, Whole

Text = Annotated[str, Meta(description="As written in the source")]
Remains = Annotated[
    str | None, Meta(description="The expression that remains where the host code does not fix the value, else null")
]


class HostSize(msgspec.Struct, frozen=True):
    """A grid or block."""

    expression: Text
    value: Annotated[
        list[int] | None, Meta(description="Three numbers; null where the host code does not fix them all")
    ]
    parts: Annotated[list[str], Meta(description="What is known of each dimension: a number or an expression")]


class HostAmount(msgspec.Struct, frozen=True):
    """A number of the launch."""

    expression: Text
    value: int | None
    remains: Remains


class HostArgumentArray(msgspec.Struct, frozen=True, kw_only=True):
    """The memory that a pointer argument points to."""

    dtype: Annotated[str, Meta(description="Of its elements, as in a launch file")]
    elements: Annotated[int | None, Meta(description="From the pointer to the end; null where it is not known")]
    remains: Remains
    fill: Annotated[str | None, Meta(description="`zeros` where the host sets all of it to 0, else null")]
    alias: Annotated[str | None, Meta(description="The argument that has the same memory, else null")]
    offset_B: Annotated[Whole, Meta(description="B from the start of that memory")]


class HostArgument(msgspec.Struct, frozen=True, kw_only=True):
    """An argument of the launch; of a struct by value each member is one, named `parameter.member`."""

    name: Annotated[str, Meta(description="The kernel's parameter, or its position where it has no name")]
    type: Annotated[str, Meta(description="As the kernel declares it")]
    expression: Text
    value: int | float | None
    remains: Remains
    array: HostArgumentArray | None


class HostLaunch(msgspec.Struct, frozen=True, kw_only=True):
    """One place that launches a kernel."""

    kernel: Annotated[str, Meta(description="Name expression with its template arguments as far as they are known")]
    is_in_file: Annotated[bool, Meta(description="Whether the kernel's source is in the file or its headers")]
    file: str
    line: Annotated[int, Meta(description="From 1", ge=1)]
    function: Annotated[str, Meta(description="The host function around it")]
    form: Annotated[str, Meta(description="`<<<>>>` or the API function")]
    grid: HostSize
    block: HostSize
    smem: HostAmount
    arguments: list[HostArgument]
    is_reached: Annotated[bool, Meta(description="Whether the program comes here when called as assumed")]
    varies: Annotated[bool, Meta(description="Whether other passes launch it with other values; these are the first")]
    needed: Annotated[list[str], Meta(description="What a launch file still needs, in words")]


class HostLaunches(msgspec.Struct, frozen=True, kw_only=True):
    """All launches of a file."""

    schema_version: Literal["1"]
    file: str
    launches: list[HostLaunch]
    not_launched: Annotated[list[Sentence], Meta(description="Kernels of the file that its host code does not launch")]
    symbols: Annotated[
        list[str], Meta(description="Variables of the device that the host writes with cudaMemcpyToSymbol")
    ]


class LaunchHint(msgspec.Struct, frozen=True, kw_only=True):
    """The launch of a kernel in the host code of its source, for an answer that had none."""

    file: str
    line: AtLeastOne
    needed: Annotated[list[str], Meta(description="What the host code leaves open, in words; empty: all is known")]
    command: Annotated[Sentence, Meta(description="Writes the launch file that gives a time")]
