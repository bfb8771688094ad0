"""Compiles one source file with nvcc: the whole of it, host code and standard headers included, to a cubin."""

import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from warpbound.errors import InputError
from warpbound.program import header_packages
from warpbound.program.compile_options import Options, target_of
from warpbound.program.compiler_output import Compiled, overloads, root_cause, spills
from warpbound.program.cuda_toolkit import Toolkit
from warpbound.program.host_code import kernels_of
from warpbound.program.kernel_instances import with_code
from warpbound.program.kernel_signatures import qualified
from warpbound.program.repository_headers import Lookup
from warpbound.quick_dataclasses import dataclass

TIMEOUT_S = 300
_SOURCE = "warpbound-source.cu"  # under a name that no #include line has
_INSTANCES = "<instances>"  # the file name of the lines that are added
_ERROR = re.compile(r"^(.+?)(?:\((\d+)\)|:(\d+):\d+): (?:catastrophic |fatal )?error *(?:#[\w-]+)?: (.*)$", re.M)
_UNOPENED = re.compile(r"^(.+?):(\d+):\d+: fatal error: (\S+): No such file or directory", re.M)
_OWN_FEATURES = re.compile(r"not supported on \.target|requires \.target|feature .* not supported", re.I)
REMOVED_NAMES = ("-DcudaThreadSynchronize=cudaDeviceSynchronize", "-DcudaThreadExit=cudaDeviceReset")  # by CUDA 13
_REMEDIES = (  # where the log names a flag that would help
    ("--expt-relaxed-constexpr", "calling a constexpr __host__ function"),
    ("--extended-lambda", "--extended-lambda"),
    ("-rdc=true", "requires separate compilation mode"),  # launches from device code
    *((flag, f'"{flag[2:].partition("=")[0]}" is undefined') for flag in REMOVED_NAMES),
)
_LOG_LINES = 40


@dataclass(frozen=True)
class _Run:
    """A cubin, empty where nvcc refused; what it printed; notes on how it was made."""

    cubin: bytes
    log: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Job:
    """One source to compile with nvcc."""

    text: str
    name: str
    arch: int
    options: Options
    lookup: Lookup
    tools: Toolkit

    def compile(self) -> Compiled:
        """The cubin with every kernel that the file instantiates. Raises InputError in nvcc's own words."""
        kernels = kernels_of(self.text, self.lookup.headers.spelled)
        names = list(kernels.local)
        if self.options.instance:
            names.append(qualified(self.options.instance, kernels.signatures))
        names += kernels.defaults
        run = self._run(names)
        if not run.cubin and names and self._blames_instances(run.log):
            if self.options.instance:
                raise self._no_instance(run.log)
            run = self._run(())
        if not run.cubin:
            raise self._refusal(run.log)
        if b".text." not in run.cubin:
            raise kernels.none(self.name)
        return Compiled(
            run.cubin, {}, overloads(kernels.signatures), spills(run.log),
            (*self.lookup.notes, *run.notes, *(() if self.options.instance else kernels.notes(with_code(run.cubin)))),
            "nvcc", self.tools.release,
        )  # fmt: skip

    def _run(self, instances: Sequence[str]) -> _Run:
        """One compilation; if the log names a remedy (a flag, the architecture's own features), another one with it."""
        target, extra = target_of(self.options.extra, self.arch)
        flags: list[str] = []
        run = self._call(target, [*extra, *flags], instances)
        for flag, mark in _REMEDIES:
            if not run.cubin and mark in run.log and flag not in extra:
                flags.append(flag)
                run = self._call(target, [*extra, *flags], instances)
        if not run.cubin and self.arch >= 90 and target[-1].isdigit() and _OWN_FEATURES.search(run.log):
            run = self._call(f"{target}a", [*extra, *flags], instances)
            return _Run(
                run.cubin, run.log, (f"compiled for {target}a: the source uses what no other architecture has",)
            )
        return run

    def _call(self, target: str, extra: Sequence[str], instances: Sequence[str]) -> _Run:
        with tempfile.TemporaryDirectory(prefix="warpbound-nvcc-") as folder:
            source, cubin = Path(folder, _SOURCE), Path(folder, "kernel.cubin")
            source.write_text(self._with(instances), encoding="utf-8", errors="surrogateescape")
            command = [
                *self.tools.command, "-cubin", "-w", "-lineinfo", "-Xptxas=-v", f"-arch={target}",
                *(f"-D{key}={value}" for key, value in self.options.defines),
                *(f"-I{place}" for place in (*self.options.include, *self.lookup.repository)),
                *(f"-Xcompiler=-idirafter{place}" for place in self.lookup.packages),
                *extra, "-o", str(cubin), str(source),
            ]  # fmt: skip
            try:
                process = subprocess.run(
                    command, capture_output=True, check=False, timeout=TIMEOUT_S, env=self.tools.environment,
                    stdin=subprocess.DEVNULL,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                raise InputError(
                    f"{self.name}: nvcc was stopped after {TIMEOUT_S} s.", "Split the file, or give a cubin."
                ) from None
            except OSError as failed:
                raise InputError(f"{self.tools.nvcc} does not start ({failed}).", "Try `warpbound doctor`.") from failed
            log = (process.stderr + process.stdout).decode(errors="replace").replace(str(source), self.name)
            image = cubin.read_bytes() if process.returncode == 0 and cubin.is_file() else b""
            return _Run(image, log)

    def _with(self, instances: Sequence[str]) -> str:
        """The source under its own name, and behind it a use of each instance, so that nvcc makes its code."""
        name = self.name.replace("\\", "\\\\").replace('"', '\\"')
        uses = "".join(
            f"static void* volatile warpbound_instance_{i} = (void*)&{instance};\n"
            for i, instance in enumerate(instances)
        )
        return f'#line 1 "{name}"\n{self.text}\n' + (f'#line 1 "{_INSTANCES}"\n{uses}' if uses else "")

    def _blames_instances(self, log: str) -> bool:
        return any(file == _INSTANCES for file, _, _, _ in _ERROR.findall(log)) or "warpbound_instance_" in log

    def _no_instance(self, log: str) -> InputError:
        return InputError(
            f"{self.name} has no kernel `{self.options.instance}`; the compiler says:\n  {_head(log)}\n",
            "Write the name with its namespace and template arguments, as in a launch.",
        )

    def _refusal(self, log: str) -> InputError:
        if match := _UNOPENED.search(log):
            includer, _, header = match.groups()
            return header_packages.MissingHeader(*header_packages.sentence(header, f"{includer}, line {match[2]},"))
        errors = _ERROR.findall(log)
        if not errors:
            first = next(iter(_telling(log)), "nvcc does not say why")
            return InputError(f"{self.name} does not compile: {first.rstrip('.')}.", "Correct source or options.")
        file, line, message = root_cause([(file, line or other, words) for file, line, other, words in errors])
        more = f" (the first of {len(errors)} errors)" if len(errors) > 1 else ""
        first = f"{file}, line {line}: {message.rstrip('.')}{more}"
        return InputError(
            f"{self.name} does not compile: {first}.\n  {_head(log)}\n",
            "Correct the source, or give -I FOLDER, --define NAME=VALUE or -p BUILD_FOLDER.",
        )


def _telling(log: str) -> Iterator[str]:
    """The lines of a log that hold more than statistics of kernels."""
    return (line.strip() for line in log.splitlines() if line.strip() and not line.startswith("ptxas info"))


def _head(log: str) -> str:
    return "\n  ".join(list(_telling(log))[:_LOG_LINES])
