"""The suite's machine code for drivers of CUDA 12, which refuse that of CUDA 13 (another ABI of the ELF file).

    python tools/older_cubins.py CODE OUT ARCH

CODE is what `warpbound measure --build` wrote. Needs the compiler of that time alone, in an environment of its own:
pip install 'cuda-bindings<13' nvidia-cuda-nvrtc-cu12. What it cannot compile without headers is left out and named.
"""

import json
import sys
from hashlib import sha256
from pathlib import Path

from cuda.bindings import nvrtc

SUFFIXED = {"wgmma"}  # needs the instructions of one architecture alone, such as sm_90a


def compiled(source: str, unit: str, arch: str) -> bytes:
    """One cubin. Raises RuntimeError with the compiler's first words."""
    _, program = nvrtc.nvrtcCreateProgram(source.encode(), f"{unit}.cu".encode(), 0, [], [])
    options = [f"-arch=sm_{arch}{'a' if unit in SUFFIXED else ''}".encode(), b"--std=c++17"]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        _, size = nvrtc.nvrtcGetProgramLogSize(program)
        log = b" " * size
        nvrtc.nvrtcGetProgramLog(program, log)
        raise RuntimeError(log.decode(errors="replace").splitlines()[0])
    _, size = nvrtc.nvrtcGetCUBINSize(program)
    cubin = b" " * size
    nvrtc.nvrtcGetCUBIN(program, cubin)
    return cubin


def main(code: Path, out: Path, arch: str) -> None:
    """Cubins and a manifest of the same form."""
    _, major, minor = nvrtc.nvrtcVersion()
    if major >= 13:
        sys.exit(f"This is the compiler of CUDA {major}.{minor}; it takes one of CUDA 12.")
    out.mkdir(parents=True, exist_ok=True)
    units = json.loads((code / "manifest.json").read_text("utf-8"))[f"sm_{arch}"]
    made: dict[str, dict[str, object]] = {}
    for unit, about in units.items():
        try:
            cubin = compiled((code / f"{unit}.cu").read_text("utf-8"), unit, arch)
        except RuntimeError as failed:
            sys.stdout.write(f"{unit}: {failed}\n")
            continue
        if missing := [name for name in about["kernels"].values() if name.encode() not in cubin]:
            sys.stdout.write(f"{unit}: has no {', '.join(missing)}\n")
            continue
        (out / f"{unit}.sm_{arch}.cubin").write_bytes(cubin)
        made[unit] = {"sha256": sha256(cubin).hexdigest(), "kernels": about["kernels"]}
    (out / "manifest.json").write_text(json.dumps({f"sm_{arch}": made}, indent=1), "utf-8")
    sys.stdout.write(f"{len(made)} of {len(units)} units in {out}.\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
