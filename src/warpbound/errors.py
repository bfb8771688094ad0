"""Errors that a caller can cause; each names the input, the place in it and what to do."""


class WarpboundError(Exception):
    """Base of every error that a caller can cause; `reason` states what is wrong, `hint` how to correct it."""

    def __init__(self, reason: str, hint: str = "") -> None:
        between = "" if reason.endswith("\n") else " "  # a compiler's log is printed on separate lines
        super().__init__(f"{reason}{between}{hint}".strip())
        self.reason = reason
        self.hint = hint

    def __reduce__(self) -> tuple[type["WarpboundError"], tuple[str, str]]:
        return type(self), (self.reason, self.hint)  # as other processes send it


class InputError(WarpboundError):
    """A file, a kernel or a value that cannot be analysed."""


class CommandError(WarpboundError):
    """A command line or an argument that is wrong by itself: unknown name, malformed value."""


class MissingTool(WarpboundError):
    """An optional part that is not installed; the hint names the extra to install."""


def install(extra: str) -> str:
    """The hint that names the extra to install."""
    return f"Install it with: pip install 'warpbound[{extra}]'"
