"""A question without an answer."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from warpbound.errors import WarpboundError
from warpbound.result.quantities import Sentence, Unpublished


class Error(msgspec.Struct, frozen=True):
    """One sentence each: why there is no answer, and the remedy."""

    reason: Sentence
    hint: str


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """A question without an answer."""

    defines: Unpublished[dict[str, str] | UnsetType] = UNSET
    kernel: Annotated[str | None, Meta(description="Null where no kernel was named or found")]
    gpu: str
    error: Error


def refusal(kernel: str | None, gpu: str, error: WarpboundError) -> Refusal:
    """The entry of a question that ended in `error`."""
    return Refusal(kernel=kernel, gpu=gpu, error=Error(error.reason, error.hint))
