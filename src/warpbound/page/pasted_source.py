"""What pasted or uploaded code may include: the compiler's own headers, each by its literal name.

Anything else could make the compiler read a file of this machine and print a line of it. The text is not taken apart
as a compiler would, because a clever text can mislead any such attempt: the check finds directives everywhere, in
comments and strings too, with every spelling that the language allows. A comment that contains `#include "/etc/passwd"`
is refused, too, although it could do no harm.
"""

import re
from collections.abc import Callable

from warpbound.errors import InputError
from warpbound.page.pasted_conditions import check_conditions

LARGEST = 1_000_000  # characters
_SPLICE = re.compile(r"(?:\\|\?\?/)[ \t\v\f\r]*\n|(?:\\|\?\?/)\r")
_READS = re.compile(
    r"(?:#|%:|\?\?=)\s*+(?P<word>include\w*|import|embed|line|/[*/]|\d++(?=\s*+[\"<_A-Za-z]))(?P<rest>[^\n]*)"
)
_SETS = re.compile(r"(?:#|%:|\?\?=)\s*+(?:define|undef)\b")
_ASKS = re.compile(r"__has_(?:include|embed)\w*")
_LITERAL = re.compile(r'\s*(?:<([\w./+-]+)>|"([\w./+-]+)")')


def _nothing(_: str) -> frozenset[str]:
    return frozenset()


def check(
    text: str,
    bundled: Callable[[str], bool],
    includes_by_macro: Callable[[str], bool],
    names_in: Callable[[str], frozenset[str]] = _nothing,
) -> None:
    """Raise InputError where `text` could read a file that is not among the bundled headers, or ask if one is there.

    bundled : tells whether the compiler brings a header of that name; by_macro : whether it includes others by macro,
    which a source that sets macros could make another file; known : the names in its conditions and macros.
    """
    if len(text) > LARGEST:
        raise InputError(f"The source has more than {LARGEST} characters.", "Paste only the kernel and what it needs.")
    if "\0" in text:
        raise InputError("The source holds zero bytes.", "Paste CUDA C++.")
    whole = _SPLICE.sub("", text)
    if match := _ASKS.search(whole):
        raise InputError(f"The page does not compile {match[0]}.", "Test a macro of your own instead.")
    headers = []
    for match in _READS.finditer(whole):
        name = _header(match["word"], match["rest"], bundled)
        headers.append(name)
        if _SETS.search(whole) and includes_by_macro(name):
            raise InputError(
                f"{name} includes files by macro, so the page accepts no #define or #undef with it.",
                "Include the part that is needed, cub/block/block_reduce.cuh, say; write constants as constexpr.",
            )
    check_conditions(whole, headers, names_in)


def _header(word: str, rest: str, bundled: Callable[[str], bool]) -> str:
    """The name of the header that a directive includes. Raises InputError where it does anything else."""
    if word.isdigit():
        raise InputError("The page accepts no line markers of a preprocessor.", "Paste the source as it was written.")
    if word.startswith("/"):
        raise InputError("The page accepts no comment between # and its directive.", "Move the comment.")
    if word != "include":
        raise InputError(f"The page does not compile #{word}.", "Leave it out.")
    literal = _LITERAL.match(rest)
    name = (literal[1] or literal[2]) if literal else ""
    if not name:
        raise InputError("The page accepts #include only with a literal name.", "Write #include <cuda_fp16.h>, say.")
    if name.startswith("/") or ".." in name.split("/") or not bundled(name):
        raise InputError(
            f"The page has no header {name}: it compiles with the headers of the compiler only.",
            "Paste what you need of it, or analyse the file with `warpbound analyze`.",
        )
    return name
