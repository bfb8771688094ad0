"""Compiles one source file with NVRTC: host code blanked, host headers replaced, remedies for errors in NVRTC's log."""

import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace

from warpbound.errors import InputError, WarpboundError
from warpbound.program import nvrtc
from warpbound.program import nvrtc_remedies as remedies
from warpbound.program.compile_options import Options, target_of
from warpbound.program.compiler_output import Compiled, overloads, root_cause, spills
from warpbound.program.header_packages import MissingHeader, sentence
from warpbound.program.host_code import Source, split_host_code
from warpbound.program.host_headers import STANDARD
from warpbound.program.kernel_instances import Kernels, NoInstance, example, option, with_code
from warpbound.program.kernel_signatures import qualified
from warpbound.program.nvrtc_choice import Nvrtc
from warpbound.program.repository_headers import Lookup
from warpbound.quick_dataclasses import dataclass

_ERROR = re.compile(r"^(.*?)\((\d+)\): (?:catastrophic )?error(?: #[\w-]+)?: (.*)$", re.M)
_OF_INSTANCES = "__nv_name_map"  # where the compiler reads name expressions
_FROM_DEVICE = "device-side kernel launch"
_OWN_FEATURES = re.compile(r"not supported on \.target|requires \.target|feature .* not supported", re.I)
_LOG_LINES = 40
PATIENCE_S = 20  # processor time, after which no other reading of a file and no further remedy is tried
_ROUNDS = 6  # rounds of remedies: each may reveal the next error


@dataclass(frozen=True)
class Job:
    """One source to compile with NVRTC.

    lookup : the headers that it reaches, and the folders that were added for them. compiler : which NVRTC.
    """

    text: str
    name: str
    arch: int
    options: Options
    lookup: Lookup
    compiler: Nvrtc

    def compile(self) -> Compiled:
        target, extra = target_of(self.options.extra, self.arch)
        with self.compiler.folders() as bundled:
            places = (*self.options.include, *self.lookup.repository, *bundled, *self.lookup.packages)
            source = split_host_code(
                self.text,
                self.lookup.headers.spelled,
                lambda header: any((place / header).is_file() for place in places),
                self.options.instance or "",
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
        if not self.options.instance:
            kernels, compiled_names = Kernels(source.kernels, source.instances, source.deduced), with_code(output.cubin)
            notes += kernels.notes(compiled_names)
            notes += tuple(_not_deduced(name) for name in source.deduced if name not in compiled_names)
        titles = {mangled: name for mangled, name in output.titles.items() if "(" not in name}  # sums are demangled
        return Compiled(
            output.cubin, titles, overloads(source.kernels), spills(output.log), (*self.lookup.notes, *notes),
            "nvrtc", self.compiler.release,
        )

    def _best(self, source: Source, target: str, flags: list[str]) -> tuple[nvrtc.Made, tuple[str, ...]]:
        """The first of several readings of the file that compiles.

        Host code blanked; blanked in the user's headers too; the file as it is.
        """
        instances = list(source.instances)
        if self.options.instance:
            instances.append(qualified(self.options.instance, source.kernels))
        attempts = [(source.device, {}), (source.device, source.headers), (self.text, {})]
        deadline = time.process_time() + PATIENCE_S
        refused: list[tuple[str, Mapping[str, str]]] = []
        empty: tuple[nvrtc.Made, tuple[str, ...]] | None = None
        for i, (code, headers) in enumerate(attempts):
            if (code, headers) in attempts[:i]:
                continue
            output, notes, left_out = self._with_remedies(
                nvrtc.Unit(code, self.name, headers), target, flags, instances, deadline
            )
            if b".text." in output.cubin:
                return output, notes
            if output.cubin:
                empty = output, notes
            else:
                refused.append((output.log, left_out))
            if time.process_time() > deadline or (refused and _is_no_use(*refused[-1], i)):
                break
        if empty and (source.kernels or not refused or "__global__" not in self.text):
            return empty
        raise self._refused(source, refused)

    def _refused(self, source: Source, refused: list[tuple[str, Mapping[str, str]]]) -> WarpboundError:
        """The error of a file whose readings are all refused; refused : the log of each, and headers it left out."""
        device = refused[:2]  # the third complains of host code
        log, left_out = min(device, key=lambda attempt: len(_ERROR.findall(attempt[0])) or 1000)
        if not self.options.instance and _complains_of_instances_alone(log):
            return self._uninstantiated(source)  # launched with a template argument of the function around
        for header, includer in left_out.items():
            if header not in STANDARD:
                return MissingHeader(*sentence(header, f"{includer},"))
        return self._refusal(log, source.absent)

    def _with_remedies(
        self, unit: nvrtc.Unit, target: str, flags: list[str], instances: list[str], deadline: float
    ) -> tuple[nvrtc.Made, tuple[str, ...], Mapping[str, str]]:
        """A build, notes, headers that were left out. Remedies that the compiler's log suggests are applied: names and
    headers that nvcc brings, a flag, the architecture's own features.

        deadline : in processor time, s, after which nothing more is tried.
        """
        help_given = remedies.Help(unit.headers)
        output = self.compiler.build(unit, [f"-arch={target}", *flags], instances)
        for _ in range(_ROUNDS):
            help_more = remedies.more(output.log, help_given, self.name)
            if output.cubin or help_more == help_given or time.process_time() > deadline:
                break
            help_given = help_more
            unit = replace(unit, headers=help_given.headers)
            output = self.compiler.build(unit, [f"-arch={target}", *flags, *help_given.flags], instances)
        notes = _left_out(help_given.left_out)
        if not output.cubin and self.arch >= 90 and target[-1].isdigit() and _OWN_FEATURES.search(output.log):
            output = self.compiler.build(unit, [f"-arch={target}a", *flags, *help_given.flags], instances)
            notes += (f"compiled for {target}a: the source uses what no other architecture has",)
        return output, notes, help_given.left_out

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
                f"{self.name} does not compile: {message.rstrip('.')}.{rest}", "Correct source or options."
            )
        file, line, message = root_cause(errors)
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
            f"Correct the source, or give -I FOLDER, --define NAME=VALUE or --nvrtc OPTION.{left_out}",
        )

    def _require_kernel(self, source: Source, output: nvrtc.Made) -> None:
        if b".text." in output.cubin:
            return
        if not output.cubin.startswith(b"\x7fELF"):
            raise InputError(
                f"{self.name}: the compiler options make no machine code.", "Leave out options for PTX or LTO."
            )
        raise self._uninstantiated(source)

    def _uninstantiated(self, source: Source) -> InputError:
        kernels = Kernels(source.kernels, source.instances, source.deduced)
        if not source.deduced:
            return kernels.none(self.name)
        template = next(kernel for kernel in source.kernels if kernel.qualified == source.deduced[0])
        reason, hint = f"{self.name}: {_not_deduced(source.deduced[0])}.", f"Name an instance: {option(template)}."
        hint += " nvcc reads host code, lambdas included (--compiler nvcc; pip install 'warpbound[nvcc]')."
        return NoInstance(reason, hint, (example(template),))


def _is_no_use(log: str, left_out: Mapping[str, str], readings: int) -> bool:
    """Whether no other reading of a refused file can succeed: none has more names, and the file as it is needs the
    missing headers as well."""
    return _complains_of_instances_alone(log) or (readings > 0 and not STANDARD.issuperset(left_out))


def _complains_of_instances_alone(log: str) -> bool:
    return {file for file, _, _ in _ERROR.findall(log)} == {_OF_INSTANCES}


def _left_out(headers: Iterable[str]) -> tuple[str, ...]:
    """The note on headers of projects and libraries that are nowhere."""
    own = [f"<{name}>" for name in headers if name not in STANDARD]
    return (f"not found and left out: {', '.join(own)}",) if own else ()


def _not_deduced(template: str) -> str:
    return f"the launch of {template} leaves its template arguments to be deduced from host code, which is not read"
