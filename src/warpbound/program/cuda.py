"""Compiles CUDA C++ to a cubin with NVRTC, cached by a hash of all inputs."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from warpbound.errors import InputError
from warpbound.program import nvrtc
from warpbound.program.cache import cached, digest
from warpbound.program.compiler_output import Compiled, spills
from warpbound.program.headers import Headers, reachable
from warpbound.program.host_code import Source, split_host_code
from warpbound.program.kernel_signatures import Signature, qualified

FRONT_END = "9"  # raise when the front end changes what it makes of the same input
COMPILED_ARCHITECTURES = (75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121)

_ERROR = re.compile(r"^(.*?)\((\d+)\): (?:catastrophic )?error(?: #[\w-]+)?: (.*)$", re.M)
_UNOPENED = re.compile(r'cannot open source file "(.*)"')
_FEW = 4  # names in a note
_OF_INSTANCES = "__nv_name_map"  # where the compiler reads name expressions
_FROM_DEVICE = "device-side kernel launch"
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
            source = split_host_code(
                self.text, self.headers.spelled, lambda header: any((place / header).is_file() for place in places)
            )
            flags = [
                "-lineinfo", "--ptxas-options=-v",
                *(f"-D{key}={value}" for key, value in self.options.defines),
                *(f"-I{place}" for place in places), *extra,
            ]  # fmt: skip
            output, notes = self._best(source, target, flags)
        self._require_kernel(source, output)
        if source.unread_line is not None:
            notes += (f"line {source.unread_line}: host code that is not understood; a launch in it may be overlooked",)
        if left_out := [] if self.options.instance else _left_out(source, output):
            notes += (f"kernel templates that nothing instantiates are left out: {', '.join(left_out)}",)
            notes += tuple(_not_deduced(one) for one in source.deduced if one in left_out)
        return Compiled(output.cubin, output.titles, _overloads(source.kernels), spills(output.log), notes)

    def _target(self) -> tuple[str, list[str]]:
        """The architecture by the user's own -arch, else the GPU's; the other options."""
        words, rest, target = list(self.options.extra), [], f"sm_{self.arch}"
        while words:
            word = words.pop(0)
            match = _ARCH_OPTION.match(word)
            if match is None:
                rest.append(word)
                continue
            target = match[1] if match[1] is not None else words.pop(0) if words else ""
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
        instances = list(source.launched)
        if self.options.instance:
            instances.append(qualified(self.options.instance, source.kernels))
        attempts = [(source.device, {}), (source.device, source.headers), (self.text, {})]
        refused: list[str] = []
        empty: tuple[nvrtc.Made, tuple[str, ...]] | None = None
        for i, (code, headers) in enumerate(attempts):
            if (code, headers) in attempts[:i]:
                continue
            output, notes = self._with_remedies(nvrtc.Unit(code, self.name, headers), target, flags, instances)
            if b".text." in output.cubin:
                return output, notes
            if output.cubin:
                empty = output, notes
            else:
                refused.append(output.log)
        if empty and (source.kernels or not refused or "__global__" not in self.text):
            return empty
        telling = [log for log in refused if not set(_UNOPENED.findall(log)) & set(source.absent)]
        log = min(telling or refused, key=lambda log: len(_ERROR.findall(log)) or 1000)
        if not self.options.instance and {file for file, _, _ in _ERROR.findall(log)} == {_OF_INSTANCES}:
            raise self._uninstantiated(source)  # launched with a template argument of the function around
        raise self._refusal(log, source.absent)

    def _with_remedies(
        self, unit: nvrtc.Unit, target: str, flags: list[str], instances: list[str]
    ) -> tuple[nvrtc.Made, tuple[str, ...]]:
        """A build; where the compiler names what would help - a flag, the architecture's own features - with that."""
        output = nvrtc.build(unit, [f"-arch={target}", *flags], instances)
        if not output.cubin and _UNMARKED in output.log:  # constexpr functions
            flags = [*flags, _UNMARKED]
            output = nvrtc.build(unit, [f"-arch={target}", *flags], instances)
        if not output.cubin and self.arch >= 90 and target[-1].isdigit() and _OWN_FEATURES.search(output.log):
            output = nvrtc.build(unit, [f"-arch={target}a", *flags], instances)
            return output, (f"compiled for {target}a: the source uses what no other architecture has",)
        return output, ()

    def _refusal(self, log: str, absent: tuple[str, ...]) -> InputError:
        lines = [line for line in log.splitlines() if line.strip() and not line.startswith("ptxas info")]
        whole = "\n  ".join(lines[:_LOG_LINES])
        if self.options.instance and nvrtc.rejected(log):
            return InputError(
                f"{self.name} has no kernel `{self.options.instance}`; the compiler says:\n  {whole}\n",
                "Write the name with its namespace and template arguments, as in a launch.",
            )
        errors = _ERROR.findall(log)
        if not errors:
            message = next((line.strip() for line in lines if "error" in line.lower()), "the compiler does not say why")
            rest = f"\n  {whole}\n" if whole.strip() not in ("", message) else ""
            return InputError(
                f"{self.name} does not compile: {message.rstrip('.')}.{rest}", "Mend the source or the options."
            )
        file, line, message = errors[0]
        if _FROM_DEVICE in message:
            return InputError(
                f"{file}, line {line}: a kernel is launched from device code, which is not analysed.",
                "Leave that launch out, and analyse the kernel that it starts by itself.",
            )
        own = [f"<{name}>" for name in absent if "." in name or "/" in name]  # not the C++ library's
        left_out = f" Not found and left out: {', '.join(own)}; if device code needs it, -I its folder." if own else ""
        more = f" (the first of {len(errors)} errors)" if len(errors) > 1 else ""
        return InputError(
            f"{self.name} does not compile: {file}, line {line}: {message.rstrip('.')}{more}.\n  {whole}\n",
            f"Mend the source, or give -I FOLDER, --define NAME=VALUE or --nvrtc OPTION.{left_out}",
        )

    def _require_kernel(self, source: Source, output: nvrtc.Made) -> None:
        if b".text." in output.cubin:
            return
        if not output.cubin.startswith(b"\x7fELF"):
            raise InputError(
                f"{self.name}: the compiler options make no machine code.", "Leave out what asks for PTX or LTO."
            )
        if any(kernel.template for kernel in source.kernels):
            raise self._uninstantiated(source)
        raise InputError(f"{self.name}: there is no __global__ function in it.", "Give a file with a kernel.")

    def _uninstantiated(self, source: Source) -> InputError:
        templates = list(dict.fromkeys(kernel.qualified for kernel in source.kernels if kernel.template))
        if source.deduced:
            return InputError(f"{self.name}: {_not_deduced(source.deduced[0])}.", _named(source.deduced[0]))
        reason = f"{self.name}: nothing instantiates its kernel templates ({', '.join(templates)})."
        return InputError(reason, _named(templates[0]))


def _named(template: str) -> str:
    return f"Name an instance with its template arguments, like --kernel '{template}<float>'."


def _not_deduced(template: str) -> str:
    return f"the launch of {template} leaves its template arguments to be deduced from host code, which is not read"


def _left_out(source: Source, output: nvrtc.Made) -> list[str]:
    """The kernel templates of a source without any instance in what was made of it; a few of many."""
    there = {title.partition("<")[0].strip() for title in output.titles.values()}
    names = list(
        dict.fromkeys(
            kernel.qualified for kernel in source.kernels if kernel.template and kernel.qualified not in there
        )
    )
    return names if len(names) <= _FEW else [*names[:_FEW], f"{len(names) - _FEW} more"]


def _overloads(kernels: tuple[Signature, ...]) -> dict[str, list[list[tuple[str, str]]]]:
    result: dict[str, list[list[tuple[str, str]]]] = {}
    for kernel in kernels:
        result.setdefault(kernel.name, []).append(list(kernel.parameters))
    return result


def with_instance(options: Options, kernel: str | None) -> Options:
    """The options that also instantiate `kernel`, where that is a name expression."""
    return replace(options, instance=kernel) if kernel and "<" in kernel else options
