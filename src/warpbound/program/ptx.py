"""Programs from PTX through nvJitLink, cached by a hash of all inputs."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import msgspec

from warpbound.disk_cache import cached, digest
from warpbound.errors import InputError, MissingTool, install
from warpbound.machine import Gpu
from warpbound.program import nvjitlink
from warpbound.program.arch_match import OLDEST, assembles_for, compiled_arch
from warpbound.program.compiler_output import Compiled, spills
from warpbound.program.kernel import Program
from warpbound.program.machine_code import from_cubin
from warpbound.program.nvjitlink import Linked
from warpbound.quick_dataclasses import dataclass

FRONT_END = "1"  # increase it when the front end makes other output from the same input

_VERSION = re.compile(r"^[^\S\n]*\.version\s+(\d+\.\d+)", re.M)
_TARGET = re.compile(r"^[^\S\n]*\.target\s+(\w+)", re.M)
_ARCHITECTURE = re.compile(r"sm_(\d+)([af]?)")
_ENTRY = re.compile(r"\.entry\s+([\w$%]+)\s*(?:\(([^()]*)\))?")
_PARAMETER = re.compile(r"\.param\s+(.*?)([\w$%]+)\s*(\[\s*\d*\s*\])?\s*$", re.S)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.S)
_LINES = re.compile(r"^[^\S\n]*\.loc\s", re.M)
_ERROR = re.compile(r"line (\d+); (?:error|fatal)\s*: (.*)")
_TOO_NEW = re.compile(r"Unsupported \.version \S+; current version is '([\d.]+)'")
_UNDEFINED = re.compile(r"Undefined reference to '([^']+)'")


@dataclass(frozen=True)
class Header:
    """Header of a PTX module: ISA version, target architecture, `a` or `f` suffix."""

    version: str
    target: int
    features: str


def is_ptx(text: str) -> bool:
    """Whether a text begins like PTX: every module starts with a .version directive."""
    return _VERSION.search(text) is not None and (".entry" in text or _TARGET.search(text) is not None)


def from_ptx(text: str, name: str, machine: Gpu, callees: Sequence[bytes] = ()) -> tuple[Program, ...]:
    """Every kernel of PTX as assembled for `machine`; `name` is the file's, `callees` are relocatable cubins with
    functions that it calls.

    Raises InputError where the PTX is wrong, too new for the linker or not for this machine; MissingTool
    without nvJitLink.
    """
    text = text.rstrip("\0")
    plain = _COMMENT.sub(" ", text)
    header = _header(plain, name)
    entries = _parameters(plain)
    if not entries:
        raise InputError(f"{name} is PTX without a kernel (.entry).", "Give PTX that holds one.")
    if machine.arch < OLDEST:
        raise InputError(
            f"{name} is PTX, and no available compiler generates code from it for compute capability "
            f"{machine.compute_capability}.",
            "Give a listing of its machine code, or count its instructions with `warpbound count`.",
        )
    arch, proxy = compiled_arch(machine)
    if not assembles_for(header.target, header.features, machine.arch):
        raise InputError(
            f"{name} is PTX for sm_{header.target}{header.features}; {machine.name} is sm_{machine.arch} "
            "and cannot run it.",
            _remedy(header),
        )
    output = _assemble(text, name, f"sm_{arch}{header.features}", entries, callees)
    return tuple(replace(program, proxy_isa=proxy) for program in from_cubin(output.cubin, name, output))


def _remedy(header: Header) -> str:
    lowest = f"{header.target // 10}.{header.target % 10}"
    if header.features:
        return (
            f"Choose a GPU of compute capability {lowest}, or compile for compute_{header.target} without the suffix."
        )
    return f"Choose a GPU of compute capability {lowest} or later, or compile for an earlier one."


def _header(text: str, name: str) -> Header:
    version, target = _VERSION.search(text), _TARGET.search(text)
    if version is None or target is None:
        missing = ".version" if version is None else ".target"
        raise InputError(
            f"{name} is not PTX: it has no {missing} line.",
            "Give what `nvcc -ptx` writes, or count a piece with `warpbound count`.",
        )
    match = _ARCHITECTURE.fullmatch(target[1])
    if match is None:
        raise InputError(f"{name}: .target {target[1]} is not an architecture.", "PTX names one like sm_80.")
    return Header(version[1], int(match[1]), match[2])


def _parameters(text: str) -> dict[str, list[list[tuple[str, str]]]]:
    """By kernel: name and type of its parameters; names that a compiler made up are left out."""
    return {entry: [list(_of_entry(entry, parameters))] for entry, parameters in _ENTRY.findall(text)}


def _of_entry(entry: str, parameters: str) -> Iterator[tuple[str, str]]:
    for part in parameters.split(","):
        match = _PARAMETER.search(part.strip())
        if match:
            kind = " ".join(match[1].split()) + (match[3] or "").replace(" ", "")
            made_up = re.fullmatch(rf"(?:{re.escape(entry)})?_?param_\d+", match[2])
            yield "" if made_up else match[2], kind


def _assemble(
    text: str, name: str, target: str, entries: dict[str, list[list[tuple[str, str]]]], callees: Sequence[bytes]
) -> Compiled:
    if not nvjitlink.version():
        raise MissingTool(
            f"{name} is PTX, and nvJitLink, which makes machine code of it, is not installed.",
            f"{install('ptx')}, or assemble it with ptxas and give the cubin.",
        )
    flags = [f"-arch={target}", *(["-lineinfo"] if _LINES.search(text) else []), "-Xptxas=-v"]

    def make() -> bytes:
        linked = nvjitlink.link("PTX", [text.encode()], flags, callees)
        if not linked.cubin:
            raise _refusal(linked, name)
        return msgspec.msgpack.encode(Compiled(linked.cubin, {}, entries, spills(linked.log)))

    key = digest("nvjitlink", FRONT_END, nvjitlink.version(), text, *flags, *callees)
    return msgspec.msgpack.decode(cached(key, make), type=Compiled)


def _refusal(linked: Linked, name: str) -> InputError:
    log = linked.log
    if newest := _TOO_NEW.search(log):
        return InputError(
            f"{name} is PTX of a later version than nvJitLink {nvjitlink.version()} reads (up to {newest[1]}).",
            "Upgrade nvidia-nvjitlink, or compile with an earlier toolkit.",
        )
    if missing := _UNDEFINED.search(log):
        return InputError(
            f"{name} calls {missing[1]}, which is not in it.", "Give the linked program or cubin, with all device code."
        )
    errors = _ERROR.findall(log)
    if not errors:
        return InputError(f"{name} does not assemble: {linked.complaint}.", "Correct it.")
    line, message = errors[0]
    more = f" (the first of {len(errors)} errors)" if len(errors) > 1 else ""
    return InputError(f"{name} does not assemble: line {line}: {message.strip().rstrip('.')}{more}.", "Correct it.")
