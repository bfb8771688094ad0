"""Compiles CUDA C++ to a cubin with the requested compiler, cached by a hash of all inputs."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec

from warpbound.disk_cache import cached, digest
from warpbound.errors import CommandError, InputError, MissingTool, WarpboundError
from warpbound.program import nvrtc, nvrtc_choice
from warpbound.program.compile_options import Options, with_instance
from warpbound.program.compiler_output import Compiled
from warpbound.program.cuda_toolkit import Toolkit, toolkit
from warpbound.program.repository_headers import Lookup, look_up

__all__ = ["COMPILED_ARCHITECTURES", "FRONT_END", "Compiled", "Options", "compile_cuda", "with_instance"]

FRONT_END = "16"  # increase it when the front end makes other output from the same input
COMPILED_ARCHITECTURES = (75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121)

_NOT_BY_NVCC = "NVRTC compiled the device code alone, because nvcc refuses the file: {}"

_TEXTURE_REFERENCE = re.compile(r"^[ \t]*(?:static[ \t]+|extern[ \t]+)?texture[ \t]*<", re.M)
_NO_TEXTURES = "texture is not a template"  # the words of nvcc and NVRTC
_WITH_TEXTURES = "11.8"  # the last NVRTC that has texture references; CUDA 12.0 removed them (its release notes)
_BY_OLDER = f"NVRTC {_WITH_TEXTURES} compiled the device code: it has texture references, which CUDA 12 removed"

Compiler = Callable[[str, str, int, Options], Compiled]


def compile_cuda(text: str, name: str, arch: int, options: Options) -> Compiled:
    """Compile `text` (called `name` in messages and in line tables) for sm_`arch`.

    Raises MissingTool without the compiler, InputError with the compiler's own words where it refuses.
    """
    if not text.isprintable() and "\0" in text:
        raise InputError(f"{name} holds zero bytes.", "Give CUDA C++.")
    compiler = compiler_of(options.compiler)
    try:
        return compiler(text, name, arch, options)
    except InputError as refused:
        in_header = _NO_TEXTURES in refused.reason
        if options.compiler not in ("auto", "nvrtc") or not (in_header or _TEXTURE_REFERENCE.search(text)):
            raise
        return _with_texture_references(text, name, arch, options, refused)


def compilers_of(text: str, word: str) -> tuple[str, ...]:
    """The words of `--compiler` to try for a program that includes this text: the older NVRTC last, if the text has
    texture references."""
    older = word in ("auto", "nvrtc") and _TEXTURE_REFERENCE.search(text)
    return (word, f"nvrtc-{_WITH_TEXTURES}") if older else (word,)


def _with_texture_references(text: str, name: str, arch: int, options: Options, refused: InputError) -> Compiled:
    """By the NVRTC that has them. Raises InputError with the remedy if it is not installed or refuses the file."""
    reason = f"{name} has texture references (texture<...>), which CUDA 12 removed."
    try:
        output = _by_nvrtc(text, name, arch, replace(options, compiler=f"nvrtc-{_WITH_TEXTURES}"))
    except MissingTool:
        way = f"pip install 'warpbound[nvrtc11]' for NVRTC {_WITH_TEXTURES}, or use texture objects."
        raise InputError(reason, way) from refused
    except InputError as older:
        words = older.reason.splitlines()[0].rstrip(".")
        raise InputError(
            f"{reason} NVRTC {_WITH_TEXTURES} refuses it, too: {words}.", "Use texture objects (cudaTextureObject_t)."
        ) from refused
    return msgspec.structs.replace(output, notes=(_BY_OLDER, *output.notes))


def compiler_of(word: str) -> Compiler:
    """The function behind a word of `--compiler`. Raises CommandError where there is none."""
    match = re.fullmatch(r"nvrtc-\d+\.\d+|nvcc=.+|[a-z]+", word)
    kind = re.split("[-=]", word)[0]
    if match is None or kind not in COMPILERS:
        raise CommandError(
            f"No compiler is called {word!r}.", f"There are {', '.join(COMPILERS)}, nvcc=PATH and nvrtc-12.6."
        )
    return COMPILERS[kind]


def _by_nvrtc(text: str, name: str, arch: int, options: Options) -> Compiled:
    release = options.compiler.partition("-")[2] if options.compiler.startswith("nvrtc-") else ""
    compiler = nvrtc_choice.of_release(release) if release else nvrtc_choice.own()
    with compiler.folders() as bundled:
        lookup = look_up(text, options.home, options.include, options.extra, bundled)

    def make() -> Compiled:
        from warpbound.program.nvrtc_job import Job  # which reads host code: as long as a kept answer takes

        return Job(text, name, arch, options, lookup, compiler).compile()

    return _cached(make, lookup, "nvrtc", compiler.version, *_parts(text, name, arch, options))


def _by_nvcc(text: str, name: str, arch: int, options: Options) -> Compiled:
    tools = _toolkit(options)
    lookup = look_up(text, options.home, options.include, options.extra, tools.include)

    def make() -> Compiled:
        from warpbound.program.nvcc import Job

        return Job(text, name, arch, options, lookup, tools).compile()

    return _cached(make, lookup, *_identity(tools), *_parts(text, name, arch, options))


def _by_any(text: str, name: str, arch: int, options: Options) -> Compiled:
    """nvcc if there is one, NVRTC for files that it refuses; if both refuse, the message is nvcc's."""
    try:
        tools = toolkit()
    except (MissingTool, InputError):
        return _by_nvrtc(text, name, arch, options)

    def make() -> Compiled:
        try:
            return _by_nvcc(text, name, arch, options)
        except InputError as refused:
            from warpbound.program.kernel_instances import NoInstance

            try:
                output = _by_nvrtc(text, name, arch, options)
            except NoInstance:
                raise  # the device code compiles: NVRTC's error names what is missing
            except WarpboundError as device:
                if isinstance(device, InputError) and _NO_TEXTURES in device.reason:
                    raise
                raise refused from None
            note = _NOT_BY_NVCC.format(refused.reason.splitlines()[0].rstrip("."))
            return msgspec.structs.replace(output, notes=(note, *output.notes))

    lookup = look_up(text, options.home, options.include, options.extra, tools.include)
    return _cached(make, lookup, "auto", nvrtc.version(), *_identity(tools), *_parts(text, name, arch, options))


COMPILERS: dict[str, Compiler] = {"auto": _by_any, "nvrtc": _by_nvrtc, "nvcc": _by_nvcc}


def _toolkit(options: Options) -> Toolkit:
    place = options.compiler.partition("=")[2]
    return toolkit(Path(place) if place else None)


def _identity(tools: Toolkit) -> tuple[str, ...]:
    return "nvcc", tools.version, str(tools.nvcc), str(tools.host)


def _parts(text: str, name: str, arch: int, options: Options) -> tuple[str, ...]:
    return str(Path.cwd()), name, text, str(arch), repr(options)


def _cached(make: Callable[[], Compiled], lookup: Lookup, *parts: str) -> Compiled:
    """The result from the cache, if all headers are known: a header that a macro names may change unnoticed."""
    if not lookup.headers.certain:
        return make()
    files = (part for path, contents in lookup.headers.files.items() for part in (str(path), contents))
    folders = repr((lookup.repository, lookup.packages))
    key = digest(FRONT_END, *parts, folders, *files)
    return msgspec.msgpack.decode(cached(key, lambda: msgspec.msgpack.encode(make())), type=Compiled)
