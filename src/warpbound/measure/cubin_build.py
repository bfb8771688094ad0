"""Machine code of the suite: compiled here, or written to a folder and read where no compiler is."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from warpbound.errors import InputError
from warpbound.measure.case import Unit
from warpbound.measure.suite import MECHANISMS, units
from warpbound.measure.suite_sources import prelude

ARCHITECTURES = (75, 80, 86, 89, 90, 100, 120)
MANIFEST = "manifest.json"
SHARED = "shared"  # the unit that holds the prelude alone
OF_THE_SUITE = ("burn", "watch_clock", "hold")  # kernels that belong to no mechanism


@dataclass(frozen=True)
class Cubins:
    """Unit -> machine code; unit -> kernel as written -> name in the machine code."""

    code: Mapping[str, bytes]
    names: Mapping[str, Mapping[str, str]]

    def of(self, kernel: str, mechanism: str) -> tuple[bytes, str]:
        """The cubin with a kernel of a step and its name there."""
        unit, _, plain = kernel.rpartition(":")
        unit = unit or (SHARED if plain in OF_THE_SUITE else mechanism)
        if unit not in self.code:
            raise InputError(f"there is no machine code of {unit} for this GPU.", "Build it with --build.")
        return self.code[unit], self.names.get(unit, {}).get(plain, plain)


def wanted(mechanisms: tuple[str, ...]) -> dict[str, Unit]:
    """Every source that these mechanisms need."""
    found = {SHARED: Unit(prelude())}
    for name in mechanisms:
        found |= units(name)
    return found


def compile_all(mechanisms: tuple[str, ...], arch: int) -> Cubins:
    """Compiled by the package's own front end, the very code that the models read."""
    from warpbound.program.cuda import Options, compile_cuda

    code: dict[str, bytes] = {}
    names: dict[str, dict[str, str]] = {}
    for name, unit in wanted(mechanisms).items():
        if unit.only not in (None, arch):
            continue
        options = Options(unit.defines, unit.include, unit.options, unit.instance)
        made = compile_cuda(unit.text, f"{name}.cu", arch, options)
        code[name] = made.cubin
        names[name] = {_plain(mangled): mangled for mangled in made.spills}
    return Cubins(code, names)


def _plain(mangled: str) -> str:
    """The function's own name in a mangled one; a C name is itself."""
    if not mangled.startswith("_Z"):
        return mangled
    rest = mangled[2:].lstrip("N")
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    return rest[len(digits) : len(digits) + int(digits)] if digits else mangled


def write(folder: Path, mechanisms: tuple[str, ...] = tuple(MECHANISMS), archs: tuple[int, ...] = ARCHITECTURES) -> int:
    """Sources, cubins and a manifest into `folder`; the number of cubins."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        manifest: dict[str, dict[str, dict[str, object]]] = {}
        for name, unit in wanted(mechanisms).items():
            (folder / f"{name}.cu").write_text(_alone(unit), encoding="utf-8")
        for arch in archs:
            made = compile_all(mechanisms, arch)
            for name, cubin in made.code.items():
                (folder / _file(name, arch)).write_bytes(cubin)
                entry: dict[str, object] = {"sha256": sha256(cubin).hexdigest(), "kernels": made.names[name]}
                manifest.setdefault(f"sm_{arch}", {})[name] = entry
        (folder / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
    except OSError as failed:
        raise InputError(f"{folder} cannot be written ({failed.strerror}).", "Choose another folder.") from failed
    return sum(map(len, manifest.values()))


def _alone(unit: Unit) -> str:
    """The source with its macros in it, so that any compiler makes the same of it."""
    return "".join(f"#define {name} {value}\n" for name, value in unit.defines) + unit.text


def read(folder: Path, mechanisms: tuple[str, ...], arch: int) -> Cubins:
    """What `write` put there for an architecture."""
    try:
        every = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        built = _serving(arch, [int(name.removeprefix("sm_")) for name in every])
        manifest = every.get(f"sm_{built}", {})
        found = [name for name in wanted(mechanisms) if name in manifest]
        code = {name: (folder / _file(name, built)).read_bytes() for name in found}
    except (OSError, ValueError) as failed:
        hint = "Make it with --build."
        raise InputError(f"{folder} holds no machine code of the suite ({failed}).", hint) from failed
    if not code:
        raise InputError(f"{folder} has nothing for sm_{arch}.", f"Make it with --build and --arch {arch}.")
    return Cubins(code, {name: manifest[name]["kernels"] for name in code})


def _serving(arch: int, built: list[int]) -> int:
    """The architecture whose machine code runs there: its own, or the nearest older one of the same generation."""
    return max((one for one in built if one // 10 == arch // 10 and one <= arch), default=arch)


def _file(unit: str, arch: int) -> str:
    return f"{unit}.sm_{arch}.cubin"
