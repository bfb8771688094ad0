"""The opcode tables: complete, sourced, equal to what was measured, and never an error."""

import re
import subprocess
from pathlib import Path

import pytest

from support.opcodes import facts
from warpbound.isa.opcodes import (
    LATENCY_CLASSES,
    PIPES,
    architectures,
    latency,
    opcode_facts,
    sources,
)
from warpbound.isa.opcodes import _load as load  # the raw tables, to see what no opcode reaches
from warpbound.isa.opcodes import _row as data_row
from warpbound.isa.traits import table
from warpbound.latency import tensor_rate
from warpbound.machine import gpu

HOWS = {"vendor", "measured", "published", "assumed"}
COMPILED = (75, 80, 86, 89, 90, 100, 120)
FAMILIES = {  # opcode with the modifiers that decide -> family
    ".".join((opcode, *sorted(modifiers))): family
    for opcode, entry in table().items()
    for modifiers, family in entry.families
}
ENTRIES = list(FAMILIES)


# ------------------------------------------------------------------------------------ the tables


def test_every_architecture_has_a_data_row() -> None:
    assert architectures() == (70, 75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121)
    assert {data_row("", arch) for arch in architectures()} == set(load("families")["columns"])


@pytest.mark.parametrize(
    "arch, row", [(72, 70), (87, 86), (88, 86), (107, 103), (121, 120), (999, 120)]
)
def test_an_architecture_without_data_is_answered_by_a_relative_and_says_so(arch: int, row: int) -> None:
    assert data_row("", arch) == row
    assert facts("FFMA", arch).demand == facts("FFMA", row).demand
    assert facts("FFMA", arch).how == "assumed"
    assert latency("predicate", arch).how == "assumed"


def test_families_and_opcodes_name_each_other() -> None:
    families = set(load("families")) - {"columns", "rows", "sources"}
    assert families == set(FAMILIES.values())


def test_every_column_list_covers_every_architecture() -> None:
    columns = load("families")["columns"]
    rows = [row for name, row in load("families").items() if name not in {"columns", "rows", "sources"}]
    rows += load("latencies").values()
    for row in rows:
        for value in (*row.values(), *row.get("demand", {}).values()):
            if isinstance(value, list):
                assert len(value) == len(columns)
            if isinstance(value, dict) and "rest" in value:
                assert {int(column) for column in value if column != "rest"} <= set(columns)


@pytest.mark.parametrize("arch", architectures())
def test_every_opcode_has_a_pipe_a_source_and_a_positive_demand(arch: int) -> None:
    for entry in ENTRIES:
        known = facts(entry, arch)
        assert known.is_known, entry
        assert known.pipe in PIPES, entry
        assert known.latency_class in LATENCY_CLASSES, entry
        assert known.how in HOWS, entry
        assert set(known.source.split()) <= set(sources()), entry
        assert known.latency is None or known.latency > 0, entry
        assert all(cycles > 0 for cycles in known.demand.values()), entry
        if known.demand:
            assert known.pipe in known.demand, entry
        else:
            assert known.pipe in {"tensor", "tmem", "none"}, entry


def test_only_memory_leaves_its_latency_to_the_machine() -> None:
    for entry in ENTRIES:
        known = facts(entry, 90)
        memory = known.latency_class in {"global", "local", "shared"} or known.family == "mbarrier_wait"
        assert (known.latency is None) == memory, entry


@pytest.mark.parametrize("arch", architectures())
def test_every_latency_has_a_source(arch: int) -> None:
    for name in load("latencies"):
        found = latency(name, arch)
        assert found.source in sources()
        assert found.how in HOWS


def test_a_number_said_twice_is_said_alike() -> None:
    pairs = {
        "xu": "MUFU", "fp64": "DFMA", "constant_immediate": "LDC", "shfl": "SHFL", "s2r": "S2R",
        "vote": "VOTE", "match": "MATCH", "redux": "REDUX", "barrier": "BAR", "branch": "BRA",
        "membar_cta": "MEMBAR.CTA", "membar_gpu": "MEMBAR.SC.GPU", "membar_sys": "MEMBAR.SC.SYS",
        "vector_to_uniform": "R2UR",
    }
    for name, instruction in pairs.items():
        for arch in architectures():
            assert latency(name, arch).value == facts(instruction, arch).latency, (name, arch)


# --------------------------------------------------------------------------- values, read elsewhere

# cycles of one sub-core, columns 7.5 8.0 8.6 8.9 9.0 10.0 12.0; the unit named is the busiest one
DEMANDS = [
    ("FFMA", "fma", (2, 2, 1, 1, 1, 1, 1)),
    ("FADD", "fma", (2, 2, 1, 1, 1, 1, 1)),
    ("IMAD.MOV.U32", "fmaheavy", (None, None, 2, 2, 2, 2, 2)),
    ("IMAD", "fma", (2, 2, 1, 1, 1, 1, 1)),
    ("IMAD.WIDE.U32", "fmaheavy", (None, None, 4, 4, 4, 2, 4)),
    ("IMAD.WIDE", "fma", (4, 4, 2, 2, 2, 1, 2)),
    ("IMAD.HI.U32", "fmaheavy", (None, None, 4, 4, 4, 4, 4)),
    ("HFMA2", "fma", (None, 2, 2, 2, 2, 2, 2)),
    ("IADD3", "alu", (2, 2, 2, 2, 2, 2, 1)),
    ("LOP3.LUT", "aluheavy", (None, None, None, None, None, None, 2)),
    ("ISETP.GE.AND", "alu", (2, 2, 2, 2, 2, 2, 1)),
    ("DFMA", "fp64", (64, 4, 64, 64, 2, 2, 64)),
    ("MUFU.RSQ", "xu", (8, 8, 8, 8, 8, 8, 8)),
    ("I2F.S16", "xu", (8, 8, 8, 8, 8, 8, 8)),
    ("F2F.F64.F32", "fp64", (64, None, 64, 64, None, None, 75.29)),
    ("F2I.S64.F64.TRUNC", "xu", (None, 8, None, None, 8, 8, None)),
    ("POPC", "xu", (8, 8, 8, 8, 8, 8, 8)),
    ("SHFL.BFLY", "lsu", (4, 4, 4, 4, 4, 4, 4)),
    ("LDG.E.128", "lsu", (8, 4, 8, 8, 4, 4, 8)),  # every other cycle on boards of graphics
    ("STS", "lsu", (8, 4, 8, 8, 4, 4, 8)),
    ("S2R", "adu", (8, 8, 8, 8, 8, 8, 8)),
    ("VOTE.ANY", "alu", (2, 2, 2, 2, 2, 2, 1)),
    ("UIADD3", "uniform", (2, 2, 2, 2, 2, 2, 1)),
]


@pytest.mark.parametrize("instruction, unit, cycles", DEMANDS, ids=[row[0] for row in DEMANDS])
def test_demand(instruction: str, unit: str, cycles: tuple[float | None, ...]) -> None:
    assert tuple(facts(instruction, arch).demand.get(unit) for arch in COMPILED) == cycles


# cycles of the SM that each instruction takes, by counters of public Nsight Compute reports and its executions there
# (docs/model-notes/on-chip-conversions.md)
COUNTED = [
    ("F2F.F16.F32", 75, "xu", 2.0),
    *((name, arch, "xu", 2.0) for name in ("I2F.U32.RP", "F2I.FTZ.U32.TRUNC.NTZ", "MUFU.RCP") for arch in (86, 89)),
    ("I2F.F64", 86, "fp64", 16.05),
    ("DFMA", 86, "fp64", 16.03),
    ("DSETP.NEU.AND", 86, "fp64", 16.05),
]


@pytest.mark.parametrize("instruction, arch, unit, cycles", COUNTED)
def test_conversions_hold_the_pipe_that_counters_name_for_as_long(
    instruction: str, arch: int, unit: str, cycles: float
) -> None:
    found = facts(instruction, arch)
    assert found.pipe == unit
    assert {name for name, busy in found.demand.items() if busy} == {unit}
    assert found.demand[unit] / 4 == pytest.approx(cycles, rel=0.005)


LATENCIES = [
    ("FFMA", (4, 4, 4, 4, 4, 4, 4)),
    ("IMAD.WIDE", (6, 6, 6, 6, 4, 4, 4)),
    ("IMAD.HI", (6, 6, 6, 6, 6, 6, 6)),
    ("FMNMX", (4, 4, 4, 4, 4, 4, 5)),
    ("LOP3.LUT", (4, 4, 4, 4, 4, 4, 4)),
    ("HFMA2", (6, 4, 4, 4, 4, 4, 4)),
    ("CS2R", (6, 7, 7, 7, 6, 6, 6)),
    ("HMMA.1688.F32", (14, 16, 16, 16, 16, 20, 29)),
    ("HMMA.16816.F32.BF16", (24, 24, 24, 24, 24, 20, 29)),
    ("IMMA.8816.S8.S8", (14, 14, 14, 14, 14, 20, 27)),
    ("IMMA.16832.S8.S8", (24, 24, 24, 24, 24, 20, 27)),
]


@pytest.mark.parametrize("instruction, cycles", LATENCIES, ids=[row[0] for row in LATENCIES])
def test_latency_of_an_opcode(instruction: str, cycles: tuple[float, ...]) -> None:
    assert tuple(facts(instruction, arch).latency for arch in COMPILED) == cycles


def test_latencies_of_the_architecture() -> None:
    assert latency("predicate", 75).value == 12
    assert latency("predicate", 90).value == 13
    assert latency("memory_operand", 75).value == 8
    assert latency("constant_immediate", 86).value == 26
    assert latency("constant_immediate", 86).how == "published"
    assert latency("constant_register", 86).value == 29
    assert [latency(f"war_stg_{bits}", 86).value for bits in (32, 64, 128)] == [14, 16, 20]
    assert [latency(f"global_width_{bits}", 86).value for bits in (32, 64, 128)] == [0, 2, 6]
    assert latency("constant_immediate", 90).how == "assumed"


def test_provenance_is_the_weaker_of_the_two() -> None:
    assert (facts("FFMA", 80).how, facts("FFMA", 80).source) == ("measured", "guide ptxas")
    assert facts("DFMA", 103).how == "published"
    assert facts("IMAD.WIDE", 80).how == "assumed"


def test_the_two_fma_halves_share_one_issue_per_cycle() -> None:
    multiply, fused = facts("IMAD", 86).demand, facts("FFMA", 86).demand
    assert multiply["fma"] + fused["fma"] == multiply["fmaheavy"] == 2


# --------------------------------------------------------------------------------------- tensor


@pytest.mark.parametrize(
    "instruction, kind, fmas",
    [
        ("HMMA.1688.F32", "fp16", 1024),
        ("HMMA.16816.F32", "fp16", 2048),
        ("HMMA.16816.F16", "fp16_acc16", 2048),
        ("HMMA.16816.F32.BF16", "bf16", 2048),
        ("HMMA.1684.F32.TF32", "tf32", 512),
        ("HMMA.SP.16832.F32", "fp16", 2048),
        ("HMMA.884.F32.F32", "fp16", 1024),
        ("HMMA.884.F32.F32.STEP2", "fp16", 256),
        ("IMMA.8816.S8.U8", "int8", 1024),
        ("IMMA.16832.S8.S8", "int8", 4096),
        ("IMMA.16864.S4.S4", "int4", 8192),
        ("QMMA.16832.F32.E4M3.E5M2", "fp8", 4096),
        ("OMMA.SF.16864.F32.E2M1.E2M1.E8", "fp4", 8192),
        ("DMMA.884", "fp64", 256),
        ("DMMA.8x8x4", "fp64", 256),
        ("BMMA.88128.AND.POPC", "int1", 8192),
        ("HGMMA.64x256x16.F32", "fp16", 65536),
        ("QGMMA.64x8x32.F32.E4M3.E4M3", "fp8", 4096),
    ],
)
def test_tensor_work_of_one_warp_instruction(instruction: str, kind: str, fmas: float) -> None:
    known = facts(instruction, 90)
    assert known.tensor is not None
    assert (known.tensor[0], known.products) == (kind, fmas)
    assert (known.pipe, dict(known.demand)) == ("tensor", {})


@pytest.mark.parametrize("instruction, cycles", [
    ("HMMA.16816.F32", 6), ("HMMA.16816.F16", 6), ("HMMA.1688.F32", 4), ("HMMA.1688.F32.TF32", 6),
    ("HMMA.1684.F32.TF32", 4), ("IMMA.16816.S8.S8", 4), ("IMMA.16832.S8.S8", 6), ("IMMA.8816.S8.S8", 4),
    ("BMMA.168256.AND.POPC", 6), ("BMMA.168128.AND.POPC", 4),
    ("HGMMA.64x256x16.F32", 128), ("IGMMA.64x256x32.S8.S8", 128),
])  # fmt: skip
def test_a_warps_products_are_slower_than_a_warpgroups_on_hopper(instruction: str, cycles: float) -> None:
    kind, multiply_adds = facts(instruction, 90).tensor or ("", 0.0)
    assert multiply_adds / (tensor_rate(gpu("h100-sxm"), kind) / 4) == cycles


def test_a_warps_products_run_at_the_boards_rate_elsewhere() -> None:
    for arch in (80, 89, 100, 120):
        assert facts("HMMA.16816.F32", arch).tensor == ("fp16", 2048)


@pytest.mark.parametrize("instruction", ["FFMA", "HFMA2.MMA", "HMMA", "UTCHMMA", "MOVM.16.MT88"])
def test_no_tensor_work_without_a_product_of_known_shape(instruction: str) -> None:
    assert facts(instruction, 100).tensor is None


# ------------------------------------------------------------------------------------- strangers


@pytest.mark.parametrize("opcode", ["FROB", "", "ffma", "UTCXMMA", "0x123"])
def test_an_unknown_opcode_is_marked_and_no_error(opcode: str) -> None:
    stranger = opcode_facts(opcode, ("WIDE",), 90)
    assert (stranger.is_known, stranger.pipe, dict(stranger.demand)) == (False, "unknown", {})


def test_an_unknown_modifier_leaves_the_opcode_known() -> None:
    assert facts("IMAD.WIDE.NEVERSEEN", 90) == facts("IMAD.WIDE", 90)


def test_the_order_of_modifiers_is_free() -> None:
    assert facts("IMAD.U32.X.WIDE", 90) == facts("IMAD.WIDE.U32.X", 90)


# ------------------------------------------------------------------------------------ real code

KERNELS = r"""
#define K extern "C" __global__ void
__device__ __noinline__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
__device__ int triple(int x) { return 3 * x; }
__device__ int flip(int x) { return x ^ 7; }
__device__ int (*table[2])(int) = {triple, flip};
__constant__ float constants[256];

K integers(int *a, unsigned *u, long long *l, unsigned long long *m, int n) {
  int i = threadIdx.x, x = a[i]; unsigned y = u[i];
  a[1] = x / n + x % n + abs(x) + min(x, n) * max(x, 3); u[1] = y / n + __umulhi(y, n);
  u[2] = __popc(y) ^ __clz(y) ^ __brev(y) ^ __byte_perm(y, n, x) ^ __funnelshift_l(y, n, x) ^ __sad(x, n, y) ^
    __ffs(x);
  l[i] = l[i] / l[n] + l[1] * l[2];
  m[i] = m[i] % m[n] + (m[3] >> n) + __umul64hi(m[4], m[5]) + __popcll(m[6]);
  a[2] = __dp4a(x, n, x) + __vabsdiffu4(y, n) + __vmaxs2(y, n) + __vadd4(y, n) + __viaddmax_s32(x, n, 5);
}
K floats(float *f, double *d, int *a, long long *l, int n) {
  float x = f[0], y = f[1]; double p = d[0], q = d[1];
  f[2] = x / y + sqrtf(x) + sinf(y) + powf(x, y) + fminf(x, y) + floorf(x) + a[0] + tanhf(y) + constants[n];
  f[3] = __sinf(x) + __expf(y) + (x > y ? x : n) + erff(x) + ldexpf(y, n) + (float)l[0];
  a[1] = (int)x; l[1] = y;
  d[2] = p / q + sqrt(p) + exp(q) + rint(p) + fmax(p, q) + (p > q) + a[2] + x; f[4] = (float)p; a[3] = (int)q;
  l[2] = (long long)p; d[3] = (double)l[3] + fma(p, q, 1.0);
}
K halves(unsigned *h, float *f) {
  unsigned r, x = h[0], y = h[1]; float w; short s = (short)x;
  asm("fma.rn.f16x2 %0, %1, %2, %1;" : "=r"(r) : "r"(x), "r"(y)); h[2] = r;
  asm("add.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y)); h[3] = r;
  asm("cvt.f32.f16 %0, %1;" : "=f"(w) : "h"(s)); f[0] = w;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(s) : "f"(f[1])); h[4] = s;
  asm("set.gt.u32.f16x2 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y)); h[5] = r;
}
K memory(int4 *v, char *c, short *s, unsigned long long *m, int n) {
  extern __shared__ int4 tile[]; int i = threadIdx.x, spill[64]; int *a = (int *)v;
  tile[i] = v[i]; __syncthreads(); v[n] = tile[i ^ 3]; c[1] = c[i]; s[1] = s[i];
  for (int j = 0; j < n; j++) spill[(j * 7 + i) & 63] = a[j] + (j ? spill[(j * 3 + i) & 63] : 0);
  a[i] = spill[n & 63]; int *either = n > 5 ? (int *)tile + n : a; a[5] = either[i]; atomicAdd(either, 2);
  a[6] = atomicAdd(a, 1); atomicMax(a + 1, n); a[7] = atomicCAS(a + 2, n, 1); m[1] = atomicExch(m, 3ull);
  atomicAdd((float *)a + 9, 1.f); atomicAdd((int *)tile, n); a[8] = atomicCAS((int *)tile + 1, n, 2);
  __threadfence(); a[9] = __ldg(a + n); asm volatile("prefetch.global.L2 [%0];" ::"l"(a));
  asm volatile("ld.acquire.gpu.s32 %0, [%1];" : "=r"(a[10]) : "l"(a + 98));
}
K warps(int *a, unsigned *u, long long *l, int n) {
  unsigned all = ~0u; int x = a[threadIdx.x], p;
  a[0] = __shfl_sync(all, x, n) + __shfl_xor_sync(all, x, 1); u[0] = __ballot_sync(all, x > 3);
  u[1] = __match_any_sync(all, x) + __match_all_sync(all, x, &p) + __activemask() + clock(); l[0] = clock64();
  a[1] = __syncthreads_count(x) + __syncthreads_or(x); __nanosleep(n); if (x > n) __syncwarp(u[3]);
  asm volatile("bar.arrive 2, 128;"); asm volatile("mov.u32 %0, %%smid;" : "=r"(u[4]));
#if __CUDA_ARCH__ >= 800
  u[5] = __reduce_add_sync(all, u[6]) + __reduce_min_sync(all, u[7]);
#endif
}
K control(int *a, float *f, int n) {
  int i = threadIdx.x;
  switch (a[i]) {
    case 0: a[i] = f[0]; break;      case 1: a[i] = f[i] * 3; break; case 2: a[i + 1] = factorial(n); break;
    case 3: a[i] = n / a[1]; break;  case 4: f[i] = sqrtf(f[1]); break; case 5: f[3] = 7; break;
    case 6: a[9] = n * n; break;     case 7: a[i] ^= n; break;  default: a[3] = table[n & 1](i);
  }
  for (int j = 0; j < a[3]; j++) { if (a[j] == n) break; if (a[j] > i) continue; a[j + i] = j; }
  if (n == 9) __trap();
}
K tensor(unsigned *u, float *f, int n) {
  unsigned x = u[threadIdx.x], y = u[n], z[4]; float c[4] = {0, 0, 0, 0}; __shared__ unsigned tile[512];
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%4}, {%0,%1,%2,%3};"
               : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(x), "r"(y));
  unsigned where = __cvta_generic_to_shared(tile + threadIdx.x * 4); tile[threadIdx.x] = y; __syncthreads();
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(z[0]), "=r"(z[1]), "=r"(z[2]), "=r"(z[3]) : "r"(where));
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(where), "l"(u));
  asm volatile("cp.async.commit_group; cp.async.wait_group 0;");
#endif
#if __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(where));
  asm volatile("{.reg .pred p; L: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra L;}" ::"r"(where));
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait; fence.proxy.async;");
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
               " [%0], [%1, {%2,%2}], [%3];" ::"r"(where), "l"(u), "r"(n), "r"(where));
#endif
  f[threadIdx.x] = c[0] + c[1] + c[2] + c[3] + z[0] + z[1] + z[2] + z[3];
}
"""
INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+\{?\s*(?:@!?U?P\w+\s+)?([A-Z][\w.]*)")


def disassemble(cubin: bytes, folder: Path) -> str:
    nvidia = pytest.importorskip("nvidia")
    tools = [tool for root in nvidia.__path__ for tool in Path(root).glob("cu13/bin/nvdisasm*")]
    if not tools:
        pytest.skip("nvdisasm is not installed")
    image = folder / "kernels.cubin"
    image.write_bytes(cubin)
    return subprocess.run([tools[0], "-c", image], capture_output=True, text=True, check=True).stdout


def compile_cubin(source: str, target: str) -> bytes:
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    program = nvrtc.nvrtcCreateProgram(source.encode(), b"kernels.cu", 0, None, None)[1]
    status = nvrtc.nvrtcCompileProgram(program, 1, [f"-arch={target}".encode()])[0]
    assert status == nvrtc.nvrtcResult.NVRTC_SUCCESS, target
    cubin = b" " * nvrtc.nvrtcGetCUBINSize(program)[1]
    nvrtc.nvrtcGetCUBIN(program, cubin)
    return cubin


@pytest.mark.cuda
@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120a"])
def test_compiled_code_has_no_unknown_opcode(target: str, tmp_path: Path) -> None:
    text = disassemble(compile_cubin(KERNELS, target), tmp_path)
    arch = int(re.sub(r"\D", "", target))
    seen = set(INSTRUCTION.findall(text))
    assert len(seen) > 100
    assert [instruction for instruction in sorted(seen) if not facts(instruction, arch).is_known] == []
