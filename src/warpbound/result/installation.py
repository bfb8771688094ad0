"""Answer of `doctor`: what is installed here."""

import msgspec


class InstalledPart(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of software. version : null where it is missing. get : the command that installs it."""

    part: str
    version: str | None
    enables: str
    get: str
