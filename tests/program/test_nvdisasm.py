"""The listing made without the analysis of data flow is the one made with it."""

import subprocess
from pathlib import Path

import pytest

from warpbound.program import nvdisasm
from warpbound.program.cuda import Options, compile_cuda

pytestmark = pytest.mark.cuda

PLAIN = 'extern "C" __global__ void plain(float* x, int n) { for (int i = 0; i < n; i++) x[i] *= x[i + 1]; }'
CASES = "".join(f"case {k}: x[{k}] = sinf(x[{k + 1}]) * {k}; break;\n" for k in range(16))
TABLE = f'extern "C" __global__ void table(float* x, int n) {{ switch (n) {{ {CASES} default: x[99] = 1; }} }}'


@pytest.mark.parametrize("source, runs", [(PLAIN, 1), (TABLE, 2)])
@pytest.mark.parametrize("arch", [75, 90])
def test_a_branch_by_address_is_disassembled_with_its_targets(
    source: str, runs: int, arch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = compile_cuda(source, "k.cu", arch, Options()).cubin
    commands = []
    started = subprocess.run

    def counted(command, **options):
        commands.append(command)
        return started(command, **options)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(nvdisasm.subprocess, "run", counted)
    found = nvdisasm.disassemble(image, "k.cu")
    (file := tmp_path / "k.cubin").write_bytes(image)
    whole = started([str(nvdisasm.find()), "-c", "-hex", "-gi", str(file)], capture_output=True, check=True)
    assert found == whole.stdout.decode()
    assert len(commands) == runs
