"""Parameters of a board overridden on the command line: --set [GPU:]PARAMETER=NUMBER."""

from collections.abc import Sequence

from warpbound.errors import CommandError
from warpbound.machine import Gpu, override
from warpbound.quick_dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    """One --set; `value` is in the catalogue's unit for the parameter, an empty `gpu` represents all."""

    word: str
    gpu: str
    parameter: str
    value: float

    def applies_to(self, board: Gpu) -> bool:
        """Whether it overrides a parameter of this board."""
        return self.gpu in ("", board.key, *board.aliases)


def parsed(words: Sequence[str]) -> tuple[Setting, ...]:
    """One Setting for each word. Raises CommandError for a word of another form."""
    return tuple(_setting(word) for word in words)


def overridden(boards: Sequence[Gpu], settings: Sequence[Setting]) -> tuple[Gpu, ...]:
    """The boards with these values. Raises CommandError for a setting of another board or of no parameter."""
    for setting in settings:
        if not any(setting.applies_to(board) for board in boards):
            requested_gpus = ", ".join(board.key for board in boards)
            raise CommandError(
                f"--set {setting.word}: {setting.gpu} is not one of the GPUs of --gpu.", f"They are {requested_gpus}."
            )
    return tuple(_changed(board, settings) for board in boards)


def _changed(board: Gpu, settings: Sequence[Setting]) -> Gpu:
    own = {setting.parameter: setting.value for setting in settings if setting.applies_to(board)}
    return override(board, own) if own else board


def _setting(word: str) -> Setting:
    name, equals, value = word.partition("=")
    target, _, parameter = name.rpartition(":")
    if not parameter or not equals:
        raise CommandError(f"--set {word!r} is not of the form PARAMETER=NUMBER.", "Write --set l2_latency=200.")
    try:
        return Setting(word, target, parameter, float(value))
    except ValueError:
        raise CommandError(f"--set {word}: {value!r} is not a number.", "Write --set PARAMETER=NUMBER.") from None
