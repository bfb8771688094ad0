"""Machine code of the suite: compiled here, or built into a folder and read on a machine without a compiler."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from warpbound.errors import InputError
from warpbound.measure.case import Unit
from warpbound.measure.kernel_text import prelude
from warpbound.measure.suite import MECHANISMS, units
from warpbound.program.kernel_names import plain_name
from warpbound.quick_dataclasses import dataclass

ARCHITECTURES = (75, 80, 86, 89, 90, 100, 120)
MANIFEST = "manifest.json"
SHARED = "shared"  # the unit that holds the prelude alone
OF_THE_SUITE = ("burn", "watch_clock", "hold")  # kernels that belong to no mechanism


@dataclass(frozen=True)
class Cubins:
    """code : unit -> machine code. names : unit -> kernel name in the source -> name in the machine code."""

    code: Mapping[str, bytes]
    names: Mapping[str, Mapping[str, str]]

    def of(self, kernel: str, mechanism: str) -> tuple[bytes, str]:
        """The cubin that holds the kernel of a step, and the kernel's name there."""
        unit, _, plain = kernel.rpartition(":")
        unit = unit or (SHARED if plain in OF_THE_SUITE else mechanism)
        if unit not in self.code:
            raise InputError(f"there is no machine code of {unit} for this GPU.", "Build it with --build.")
        return self.code[unit], self.names.get(unit, {}).get(plain, plain)


def all_units(mechanisms: tuple[str, ...]) -> dict[str, Unit]:
    """Every source that these mechanisms need."""
    sources = {SHARED: Unit(prelude())}
    for name in mechanisms:
        sources |= units(name)
    return sources


def compile_all(mechanisms: tuple[str, ...], arch: int) -> Cubins:
    """Compile with the package's own front end: the models read the same code."""
    from warpbound.program.cuda import Options, compile_cuda

    code: dict[str, bytes] = {}
    names: dict[str, dict[str, str]] = {}
    for name, unit in all_units(mechanisms).items():
        if unit.only not in (None, arch):
            continue
        options = Options(unit.defines, unit.include, unit.options, unit.instance)
        output = compile_cuda(unit.text, f"{name}.cu", arch, options)
        code[name] = output.cubin
        names[name] = {plain_name(mangled).rpartition("::")[2]: mangled for mangled in output.spills}
    return Cubins(code, names)


def write(folder: Path, mechanisms: tuple[str, ...] = tuple(MECHANISMS), archs: tuple[int, ...] = ARCHITECTURES) -> int:
    """Write sources, cubins and a manifest into `folder`; the number of cubins."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        manifest: dict[str, dict[str, dict[str, object]]] = {}
        for name, unit in all_units(mechanisms).items():
            (folder / f"{name}.cu").write_text(_self_contained(unit), encoding="utf-8")
        for arch in archs:
            built = compile_all(mechanisms, arch)
            for name, cubin in built.code.items():
                (folder / _file(name, arch)).write_bytes(cubin)
                entry: dict[str, object] = {"sha256": sha256(cubin).hexdigest(), "kernels": built.names[name]}
                manifest.setdefault(f"sm_{arch}", {})[name] = entry
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{folder} cannot be written ({error.strerror}).", "Choose another folder.") from error
    return sum(map(len, manifest.values()))


def _self_contained(unit: Unit) -> str:
    """The source with its macro definitions, for compilers that do not get them as options."""
    return "".join(f"#define {name} {value}\n" for name, value in unit.defines) + unit.text


def read(folder: Path, mechanisms: tuple[str, ...], arch: int) -> Cubins:
    """The machine code that `write` put there for an architecture."""
    try:
        by_arch = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        built = _compatible(arch, [int(name.removeprefix("sm_")) for name in by_arch])
        manifest = by_arch.get(f"sm_{built}", {})
        code = {name: (folder / _file(name, built)).read_bytes() for name in all_units(mechanisms) if name in manifest}
    except (OSError, ValueError) as error:
        hint = "Make it with --build."
        raise InputError(f"{folder} holds no machine code of the suite ({error}).", hint) from error
    if not code:
        raise InputError(f"{folder} has nothing for sm_{arch}.", f"Make it with --build and --arch {arch}.")
    return Cubins(code, {name: manifest[name]["kernels"] for name in code})


def _compatible(arch: int, built: list[int]) -> int:
    """The architecture whose machine code runs there: its own, or the nearest older one of the same generation."""
    return max((other for other in built if other // 10 == arch // 10 and other <= arch), default=arch)


def _file(unit: str, arch: int) -> str:
    return f"{unit}.sm_{arch}.cubin"
