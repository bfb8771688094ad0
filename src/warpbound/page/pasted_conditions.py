"""Check of `#if` in pasted code: no condition may construct `__has_include`, which tests whether a file exists.

Only ## in a macro joins two words into one: in a macro of the text, or in a header's macro that the text calls with
pieces. So a condition may call no macro, and may name no macro of the text that pastes or calls; no such macro may have
a name that an included header knows.
"""

import re
from collections.abc import Callable, Iterable

from warpbound.errors import InputError

_LETTER = r"""[^\s()!&|<>=+\-*/%^~?:,.;#"'\[\]{}]"""  # whatever is no punctuation: names have $ and other scripts too
_HARMLESS = r"defined|__has_(?:builtin|attribute|cpp_attribute|feature|extension)"
_WORD = re.compile(rf"{_LETTER}++")
_CALLS = re.compile(rf"(?<!{_LETTER})(?!(?:{_HARMLESS})(?!{_LETTER})){_LETTER}++\s*+\(")
_PASTES = re.compile(r"##|%:%:|#%:|%:#|\?\?=")
_DIRECTIVE = re.compile(r"(?:#|%:|\?\?=)\s*+(?P<word>define|if|elif)(?!\w)(?P<rest>[^\n]*)")
_DEFINED = re.compile(rf"\bdefined\s*+(?:\(\s*+{_LETTER}++\s*+\)|{_LETTER}++)")
_REMARK = re.compile(r"""//|/\*|["']""")


def check_conditions(whole: str, headers: Iterable[str], names_in: Callable[[str], frozenset[str]]) -> None:
    """Raise InputError where a condition of a text without splices, or of a header, could build `__has_include`.

    met : headers that the text includes; known : the names in conditions and macros of one and all it includes.
    """
    bodies: dict[str, str] = {}
    conditions: list[str] = []
    for directive in _DIRECTIVE.finditer(whole):
        text = _without_remarks(directive["rest"])
        if directive["word"] == "define":
            if (name := _WORD.search(text)) is not None:
                bodies[name[0]] = bodies.get(name[0], "") + text[name.end() :]
        else:
            conditions.append(_DEFINED.sub(" ", text))
    making = _making(bodies)
    for condition in conditions:
        if _CALLS.search(condition) or making & set(_WORD.findall(condition)):
            raise InputError(
                "The page accepts no macro with arguments and no ## in #if.",
                "Write the condition out.",
            )
    for header in headers if making else ():
        if both := making & names_in(header):
            raise InputError(f"The source makes {min(both)} a macro, which {header} knows too.", "Call it otherwise.")


def _without_remarks(rest: str) -> str:
    """A directive's line without comments, up to the first quotation. Raises InputError where a comment runs on."""
    parts, at = list[str](), 0
    while (remark := _REMARK.search(rest, at)) is not None and remark[0] not in "\"'":
        parts.append(rest[at : remark.start()])
        if remark[0] == "//":
            return " ".join(parts)
        end = rest.find("*/", remark.end())
        if end < 0:
            raise InputError("The page accepts no directive with a comment over several lines.", "Move the comment.")
        at = end + len("*/")
    quoted = rest[at:]
    hidden = "##" if "/*" in quoted else ""  # after a quotation mark a comment may be text: assume the worst
    return " ".join([*parts, quoted, hidden])


def _making(bodies: dict[str, str]) -> frozenset[str]:
    """Macros that could make a word of pieces: by ##, by a call, or by naming one that does."""
    parameters = re.compile(r"\([^()]*\)")
    replacements = {
        name: parameters.sub("", body, count=1) if body.startswith("(") else body for name, body in bodies.items()
    }
    naming: dict[str, list[str]] = {}
    for name, body in replacements.items():
        for word in _WORD.findall(body):
            naming.setdefault(word, []).append(name)
    waiting = [name for name, body in replacements.items() if _PASTES.search(body) or _CALLS.search(body)]
    making = set(waiting)
    while waiting:
        new = set(naming.get(waiting.pop(), ())) - making
        making |= new
        waiting += new
    return frozenset(making)
