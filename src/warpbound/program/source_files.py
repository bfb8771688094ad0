"""CUDA C++, PTX, cubins and listings to Programs, one per kernel (docs/add-a-compiler-or-language.md adds another)."""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import chain, product
from pathlib import Path

from warpbound import machine as machines
from warpbound.errors import CommandError, InputError, WarpboundError
from warpbound.machine import Gpu
from warpbound.program.arch_match import compiled_arch, fits
from warpbound.program.compile_commands import with_build
from warpbound.program.compile_options import Options, compiler_name, with_instance
from warpbound.program.compiler_output import Compiled
from warpbound.program.cubin import is_cubin
from warpbound.program.cuda import compile_cuda, compilers_of
from warpbound.program.fatbin import is_binary
from warpbound.program.header_packages import MissingHeader
from warpbound.program.includers import includers
from warpbound.program.issue_table_notes import with_issue_table_notes
from warpbound.program.kernel import Program
from warpbound.program.kernel_names import display_names, named, plain_name
from warpbound.program.machine_code import from_cubin
from warpbound.program.nvdisasm import disassemble_all
from warpbound.program.proxy_registers import with_likely_registers

__all__ = ["LARGEST_FILE_B", "Source", "compile_program", "display_names", "plain_name", "programs", "variants"]

Source = Path | str | bytes
LARGEST_FILE_B = 64 << 20
MOST_EXAMPLES = 8  # most templates without an instance that a message lists
EXAMPLE = "nothing here instantiates this template; {} is an example, --kernel names your instance"
INCLUDED = "compiled as a part of {runner}, which includes {file}"


_CUDA_ENDINGS = (".cu", ".cuh")
_KINDS = "CUDA C++, PTX, a cubin or a listing"
_OTHER_KINDS = {  # ending -> what the file is, and the remedy
    ".toml": ("is a launch file, which names no source", "Write FILE.cu --launch {file}."),
    ".py": ("is a Python file", "Name one of its kernels: {file}:KERNEL."),
}
_PROBE = re.compile(r"cub::\w+::detail::EmptyKernel<")


def compile_program(  # noqa: PLR0913  (the signature is the public one)
    source: Source,
    gpu: str | Path | Gpu,
    kernel: str | None = None,
    defines: Mapping[str, object] | None = None,
    options: Sequence[str] = (),
    include: Sequence[str | Path] = (),
    compiler: str = "auto",
) -> Program:
    """The one kernel of `source` (a Path, or the text itself) as `gpu` runs it.

    kernel : plain name, mangled name or name expression (`scale<float>`); needed where there are several.
    compiler : as `--compiler` takes it: auto, nvrtc, nvcc, nvcc=PATH.
    Raises InputError where the source holds no such kernel or does not compile, MissingTool without a compiler,
    CommandError where a value is of another kind.
    """
    if not isinstance(source, Path | str | bytes):
        raise CommandError(f"The source is of type {type(source).__name__}.", "Give a Path, or the text itself.")
    if not isinstance(kernel, str | None):
        raise CommandError(f"kernel is {kernel!r}.", "Give a name as text.")
    if not isinstance(defines or {}, Mapping):
        raise CommandError(f"defines is {defines!r}.", "Give a mapping of names to values.")
    for name, words in (("options", options), ("include", include)):
        if isinstance(words, str | Path):
            raise CommandError(f"{name} is {words!r}.", f"Give a list: [{str(words)!r}].")
        if not isinstance(words, Iterable) or not all(isinstance(word, str | Path) for word in words):
            raise CommandError(f"{name} is {words!r}.", "Give a list of text.")
    choice = Options(
        tuple((k, str(int(v) if isinstance(v, bool) else v)) for k, v in (defines or {}).items()),
        tuple(Path(folder) for folder in include),
        tuple(options),
        compiler=compiler_name(compiler),
    )
    return _only(programs(source, machines.gpu(gpu), kernel, choice))


def programs(source: Source, machine: Gpu, kernel: str | None, options: Options) -> tuple[Program, ...]:
    """Every kernel of `source`, or those that `kernel` names, as `machine` runs them.

    source : a Path; or bytes; or the text of CUDA C++, PTX or a listing.
    Raises InputError where nothing of that name is found or the input cannot be read.
    """
    source = _path_if_one(source)
    name, raw = _contents(source)
    if is_cubin(raw):
        result = from_cubin(raw, name)
    elif is_binary(raw):
        from warpbound.program.embedded_code import from_binary

        result = from_binary(raw, name, machine, kernel)
    else:
        result = _from_text(_text(raw, name), name, source, machine, kernel, options)
    return _fitting(named(_without_probe(result) if kernel is None else result, kernel, name), machine)


def _without_probe(kernels: tuple[Program, ...]) -> tuple[Program, ...]:
    """All but the empty kernel that CUB compiles into every file to ask which architecture the code is for."""
    return tuple(each for each in kernels if not _PROBE.match(each.title)) or kernels


def read_text(path: Path) -> str:
    """The text of a file, in whatever encoding. Raises InputError where it cannot be read or is none."""
    name, raw = _contents(path)
    return _text(raw, name)


def _from_text(  # noqa: PLR0913  (what a compilation needs)
    text: str, name: str, source: Source, machine: Gpu, kernel: str | None, options: Options
) -> tuple[Program, ...]:
    ending = source.suffix if isinstance(source, Path) else ""
    if ending in _OTHER_KINDS:
        kind, way_out = _OTHER_KINDS[ending]
        raise InputError(f"{name} {kind}.", way_out.format(file=name))
    if ending not in _CUDA_ENDINGS:
        from warpbound.program.languages import LANGUAGES  # readers that CUDA C++ does without

        by_ending = (language for language in LANGUAGES if ending and language.ending == ending)
        by_text = (language for language in LANGUAGES if language.recognised(text, machine))
        if language := next(chain(by_ending, by_text), None):
            return language.reader(text, name, machine)
    place = source.parent if isinstance(source, Path) else None
    options = with_build(options, source) if isinstance(source, Path) else options
    whole = replace(options, include=(place or Path(), *options.include), home=place)
    try:
        return _from_cuda(text, name, machine, kernel, whole)
    except InputError as refused:
        by_runner: tuple[Program, ...] = ()
        if isinstance(source, Path):
            if isinstance(refused, MissingHeader):  # which stops nvcc, but may be the host's alone
                if options.compiler.partition("=")[0] == "nvcc":
                    raise
                options = replace(options, compiler=options.compiler.replace("auto", "nvrtc"))
            by_runner = _from_runner(source, text, machine, kernel, options)
        candidates = by_runner or _examples(refused, text, name, machine, whole)
        if not candidates:
            raise
        return candidates


def _from_runner(
    source: Path, text: str, machine: Gpu, kernel: str | None, options: Options
) -> tuple[Program, ...]:
    """The kernels of a file that does not compile by itself, out of a program that includes it; none without one."""
    from warpbound.program.host_code import kernels_of

    own = {signature.name for signature in kernels_of(text, {}).signatures}
    words = compilers_of(text, options.compiler)
    for runner, word in product(includers(source) if own else (), words):
        own_folders = dict.fromkeys((runner.parent, source.parent.resolve()))  # one of two spellings, to be found by it
        within = replace(options, include=(*own_folders, *options.include), home=runner.parent, compiler=word)
        try:
            every = _from_cuda(read_text(runner), os.path.relpath(runner), machine, kernel, within)
        except WarpboundError:
            continue
        note = INCLUDED.format(runner=os.path.relpath(runner), file=source.name)
        of_source = [each for each in every if plain_name(each.name).rpartition("::")[2] in own]
        if of_source:
            return tuple(replace(each, source=text, assumed=(note, *each.assumed)) for each in of_source)
    return ()


def _examples(refused: InputError, text: str, name: str, machine: Gpu, options: Options) -> tuple[Program, ...]:
    """An instance of each kernel template of a file without known instances; none if it has other errors."""
    from warpbound.program.kernel_instances import NoInstance

    result: list[Program] = []
    for instance in refused.examples[:MOST_EXAMPLES] if isinstance(refused, NoInstance) else ():
        with suppress(WarpboundError):
            result += _from_cuda(text, name, machine, instance, options)
    return tuple(replace(each, assumed=(EXAMPLE.format(each.title), *each.assumed)) for each in result)


def _path_if_one(source: Source) -> Source:
    """A text of one word that ends like a source file is a path: no kernel is that short."""
    if not isinstance(source, str) or len(source.split()) != 1:
        return source
    from warpbound.program.languages import LANGUAGES

    others = (language.ending for language in LANGUAGES if language.ending)
    endings = (*_CUDA_ENDINGS, ".cubin", ".fatbin", ".sass", ".txt", *others)
    return Path(source) if source.endswith(endings) else source


def _contents(source: Source) -> tuple[str, bytes]:
    if isinstance(source, Path):
        name, raw = os.fsencode(source).decode(errors="replace"), _read(source)  # a name that can be written down
    else:
        name, raw = "<input>", source.encode() if isinstance(source, str) else source
    if len(raw) > LARGEST_FILE_B:
        raise InputError(
            f"{name} is larger than {LARGEST_FILE_B >> 20} MB, the limit.", "Give the cubin of the one kernel."
        )
    if not raw.strip():
        raise InputError(f"{name} is empty.", f"Give {_KINDS}.")
    return name, raw


def _read(path: Path) -> bytes:
    """At most one byte more than is allowed, so that an endless file comes to an end."""
    if path.is_dir():
        raise InputError(f"{path} is a folder.", "Give a file: .cu, .ptx, .cubin or .sass.")
    try:
        with path.open("rb") as file:
            return file.read(LARGEST_FILE_B + 1)
    except (OSError, ValueError) as failed:
        reason = getattr(failed, "strerror", None) or str(failed)
        raise InputError(f"{path} cannot be read ({reason}).", "Check the path.") from failed


def _text(raw: bytes, name: str) -> str:
    """UTF-8, UTF-16 with its mark (as PowerShell redirects), or Latin-1; control characters are in no text."""
    try:
        text = raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    text = text.rstrip("\0")
    strange = next((letter for letter in text if letter < " " and letter not in "\t\n\v\f\r\x1a"), None)
    if strange is not None:
        raise InputError(
            f"{name} is neither text nor a cubin (it holds the byte {ord(strange):#04x}).",
            "Give .cu, .ptx, .cubin or .sass.",
        )
    return text


def variants(source: Path, machine: Gpu, kernel: str | None, each: Sequence[Options]) -> list[Program | WarpboundError]:
    """The one kernel of a CUDA source under each of several options, as `compile_program` gives it, or why there is
    none; their machine code is read by one call of nvdisasm.

    Raises InputError where the source cannot be read or is not CUDA C++.
    """
    name, raw = _contents(source)
    if is_cubin(raw) or is_binary(raw) or source.suffix not in _CUDA_ENDINGS:
        raise InputError(f"{name} is not CUDA C++, so macros have no effect on it.", "Give a .cu file.")
    text, arch = _text(raw, name), compiled_arch(machine)[0]
    outputs: list[Compiled | WarpboundError] = []
    compilers: list[Callable[[int], Compiled]] = []
    for options in each:
        within = with_instance(replace(options, include=(source.parent, *options.include), home=source.parent), kernel)
        compilers.append(partial(compile_cuda, text, name, options=within))
        try:
            outputs.append(compilers[-1](arch))
        except WarpboundError as problem:
            outputs.append(problem)
    cubins = list(dict.fromkeys(output.cubin for output in outputs if isinstance(output, Compiled)))
    listings = dict(zip(cubins, disassemble_all(cubins, name), strict=True))
    request = text, name, machine, kernel
    return [
        output if isinstance(output, WarpboundError) else _one_of(output, listings[output.cubin], compiler, request)
        for output, compiler in zip(outputs, compilers, strict=True)
    ]


def _one_of(
    output: Compiled, listing: str, compiler: Callable[[int], Compiled], request: tuple[str, str, Gpu, str | None]
) -> Program | WarpboundError:
    text, name, machine, kernel = request
    try:
        parsed = with_likely_registers(_read_from(output, text, name, compiled_arch(machine)[1], listing), compiler)
        result = _fitting(named(parsed, kernel, name), machine)
        return _only(result)
    except WarpboundError as problem:
        return problem


def _fitting(kernels: Sequence[Program], machine: Gpu) -> tuple[Program, ...]:
    return tuple(with_issue_table_notes(fits(kernel, machine), machine) for kernel in kernels)


def _only(kernels: Sequence[Program]) -> Program:
    if len(kernels) > 1:
        raise InputError(
            f"{kernels[0].source_name} holds {len(kernels)} kernels: {', '.join(display_names(kernels))}.",
            "Name one of them with kernel= (--kernel).",
        )
    return kernels[0]


def _from_cuda(text: str, name: str, machine: Gpu, kernel: str | None, options: Options) -> tuple[Program, ...]:
    arch, proxy = compiled_arch(machine, options.compiler)
    compiler = partial(compile_cuda, text, name, options=with_instance(options, kernel))
    return with_likely_registers(_read_from(compiler(arch), text, name, proxy, None), compiler)


def _read_from(output: Compiled, text: str, name: str, proxy: str | None, listing: str | None) -> tuple[Program, ...]:
    result = from_cubin(output.cubin, name, output, listing)
    compiler = (output.compiler, output.release) if output.compiler else None
    return tuple(
        replace(each, source=text, proxy_isa=proxy, assumed=(*output.notes, *each.assumed), compiler=compiler)
        for each in result
    )
