"""CUDA C++ to a cubin by NVRTC, remembered under the hash of all that goes in."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from warpbound.errors import InputError
from warpbound.program import nvrtc
from warpbound.program.cache import cached, digest
from warpbound.program.compiled import Compiled, spills
from warpbound.program.headers import Headers, reachable
from warpbound.program.host_code import Source, take_apart
from warpbound.program.signatures import Signature, qualified

FRONT_END = "5"  # raise when the front end changes what it makes of the same input
COMPILED_ARCHITECTURES = (75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121)

_ERROR = re.compile(r"^(.*?)\((\d+)\): (?:catastrophic )?error(?: #[\w-]+)?: (.*)$", re.M)
_ARCH_OPTION = re.compile(r"^(?:-arch|--gpu-architecture)(?:=(.*))?$")
_OWN_FEATURES = re.compile(r"not supported on \.target|requires \.target|feature .* not supported", re.I)
_UNMARKED = "-default-device"  # the flag that takes functions without a mark for device code
_LOG_LINES = 40


@dataclass(frozen=True)
class Options:
    """How to compile: macro definitions, include folders, further NVRTC options, a kernel to instantiate."""

    defines: tuple[tuple[str, str], ...] = ()
    include: tuple[Path, ...] = ()
    extra: tuple[str, ...] = ()
    instance: str | None = None


def compile_cuda(text: str, name: str, arch: int, options: Options) -> Compiled:
    """Compile `text` (called `name` in messages and in line tables) for sm_`arch`.

    Raises MissingTool without NVRTC, InputError with the compiler's own words where it refuses.
    """
    if not text.isprintable() and "\0" in text:
        raise InputError(f"{name} holds zero bytes.", "Give CUDA C++.")
    headers = reachable(text, options.include, options.extra)

    def make() -> bytes:
        return msgspec.msgpack.encode(_Job(text, name, arch, options, headers).compile())

    if not headers.certain:  # a header that a macro names may change unseen
        return msgspec.msgpack.decode(make(), type=Compiled)
    key = digest(
        "nvrtc", FRONT_END, nvrtc.version(), str(Path.cwd()), name, text, str(arch), repr(options),
        *(part for path, contents in headers.files.items() for part in (str(path), contents)),
    )  # fmt: skip
    return msgspec.msgpack.decode(cached(key, make), type=Compiled)


@dataclass(frozen=True)
class _Job:
    """One source to compile."""

    text: str
    name: str
    arch: int
    options: Options
    headers: Headers

    def compile(self) -> Compiled:
        target, extra = self._target()
        with nvrtc.header_folders() as bundled:
            places = (*self.options.include, *bundled)
            source = take_apart(
                self.text, self.headers.spelled, lambda header: any((place / header).is_file() for place in places)
            )
            flags = [
                "-lineinfo", "--ptxas-options=-v",
                *(f"-D{key}={value}" for key, value in self.options.defines),
                *(f"-I{place}" for place in places), *extra,
            ]  # fmt: skip
            made, notes = self._best(source, target, flags)
        self._require_kernel(source, made)
        return Compiled(made.cubin, made.titles, _overloads(source.kernels), spills(made.log), notes)

    def _target(self) -> tuple[str, list[str]]:
        """The architecture by the user's own -arch, else the GPU's; the other options."""
        words, rest, target = list(self.options.extra), [], f"sm_{self.arch}"
        while words:
            word = words.pop(0)
            found = _ARCH_OPTION.match(word)
            if found is None:
                rest.append(word)
                continue
            target = found[1] if found[1] is not None else words.pop(0) if words else ""
            if not re.fullmatch(rf"sm_{self.arch}[af]?", target):
                raise InputError(
                    f"--nvrtc {word}: the code would be for {target or 'nothing'}, the GPU is sm_{self.arch}.",
                    f"Choose another --gpu; for features of one architecture write --nvrtc -arch=sm_{self.arch}a.",
                )
        return target, rest

    def _best(self, source: Source, target: str, flags: list[str]) -> tuple[nvrtc.Made, tuple[str, ...]]:
        """The first of several readings of the file that compiles.

        Host code blanked; blanked in the user's headers too; the file as it is.
        """
        wanted = list(source.launched)
        if self.options.instance:
            wanted.append(qualified(self.options.instance, source.kernels))
        attempts = [(source.device, {}), (source.device, source.headers), (self.text, {})]
        refused: list[str] = []
        empty: tuple[nvrtc.Made, tuple[str, ...]] | None = None
        for i, (code, headers) in enumerate(attempts):
            if (code, headers) in attempts[:i]:
                continue
            made, notes = self._with_remedies(nvrtc.Unit(code, self.name, headers), target, flags, wanted)
            if b".text." in made.cubin:
                return made, notes
            if made.cubin:
                empty = made, notes
            else:
                refused.append(made.log)
        if empty and (source.kernels or not refused or "__global__" not in self.text):
            return empty
        raise self._refusal(min(refused, key=lambda log: len(_ERROR.findall(log)) or 1000))

    def _with_remedies(
        self, unit: nvrtc.Unit, target: str, flags: list[str], wanted: list[str]
    ) -> tuple[nvrtc.Made, tuple[str, ...]]:
        """A build; where the compiler names what would help - a flag, the architecture's own features - with that."""
        made = nvrtc.build(unit, [f"-arch={target}", *flags], wanted)
        if not made.cubin and _UNMARKED in made.log:  # constexpr functions
            flags = [*flags, _UNMARKED]
            made = nvrtc.build(unit, [f"-arch={target}", *flags], wanted)
        if not made.cubin and self.arch >= 90 and target[-1].isdigit() and _OWN_FEATURES.search(made.log):
            made = nvrtc.build(unit, [f"-arch={target}a", *flags], wanted)
            return made, (f"compiled for {target}a: the source uses what no other architecture has",)
        return made, ()

    def _refusal(self, log: str) -> InputError:
        lines = [line for line in log.splitlines() if line.strip() and not line.startswith("ptxas info")]
        whole = "\n  ".join(lines[:_LOG_LINES])
        if self.options.instance and nvrtc.rejected(log):
            return InputError(
                f"{self.name} has no kernel `{self.options.instance}`; the compiler says:\n  {whole}\n",
                "Write the name with its namespace and template arguments, as in a launch.",
            )
        errors = _ERROR.findall(log)
        if not errors:
            said = next((line.strip() for line in lines if "error" in line.lower()), "the compiler does not say why")
            rest = f"\n  {whole}\n" if whole.strip() not in ("", said) else ""
            return InputError(
                f"{self.name} does not compile: {said.rstrip('.')}.{rest}", "Mend the source or the options."
            )
        file, line, message = errors[0]
        more = f" (the first of {len(errors)} errors)" if len(errors) > 1 else ""
        return InputError(
            f"{self.name} does not compile: {file}, line {line}: {message.rstrip('.')}{more}.\n  {whole}\n",
            "Mend the source, or give -I FOLDER, --define NAME=VALUE or --nvrtc OPTION.",
        )

    def _require_kernel(self, source: Source, made: nvrtc.Made) -> None:
        if b".text." in made.cubin:
            return
        if not made.cubin.startswith(b"\x7fELF"):
            raise InputError(
                f"{self.name}: the compiler options make no machine code.", "Leave out what asks for PTX or LTO."
            )
        templates = list(dict.fromkeys(one.qualified for one in source.kernels if one.template))
        if templates:
            raise InputError(
                f"{self.name}: nothing instantiates its kernel templates ({', '.join(templates)}).",
                f"Name an instance with its template arguments, like --kernel '{templates[0]}<float>'.",
            )
        raise InputError(f"{self.name}: there is no __global__ function in it.", "Give a file with a kernel.")


def _overloads(kernels: tuple[Signature, ...]) -> dict[str, list[list[tuple[str, str]]]]:
    found: dict[str, list[list[tuple[str, str]]]] = {}
    for kernel in kernels:
        found.setdefault(kernel.name, []).append(list(kernel.parameters))
    return found


def with_instance(options: Options, kernel: str | None) -> Options:
    """The options that also instantiate `kernel`, where that is a name expression."""
    return replace(options, instance=kernel) if kernel and "<" in kernel else options
