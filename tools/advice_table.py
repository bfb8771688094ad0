"""The tables of docs/advice.md: kernels with a known better version. Is the first advice the change that it made,
and does the what-if promise the gain that the better version has?

    python tools/advice_table.py PROGRAMS ANSWERS.jsonl     answer for each pair, and print the table of all answers

PROGRAMS is a folder with the public sources: sgemm (siboehm/SGEMM_CUDA, src/kernels), cuda-samples (NVIDIA), rodinia
(3.1, cuda) and polybench (sgrauerg/polybenchGpu, CUDA). Both gains are predictions: the what-if's from the code as it
is, the better version's from its own code. ANSWERS.jsonl keeps what was answered; a pair that is in it is not asked
again.
"""

import json
import math
import re
import statistics
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import warpbound
from warpbound.advice.trial import compiled, tried
from warpbound.advice.variant import Question
from warpbound.analysis import Settings
from warpbound.analysis.answer import analyze_kernel
from warpbound.analysis.launch_time import launch_time
from warpbound.kernel_argument import parse_argument
from warpbound.program.compile_options import Options
from warpbound.report.advice import gains
from warpbound.report.bottleneck_tables import changes_of_the_kernel
from warpbound.whatif.mechanisms import RESOLVED, SMALL, promised_between

HERE = Path(__file__).with_name("advice_pairs")
ROOT = HERE.parent.parent
BOARD, SETTINGS = "h200", Settings(clock="boost")
SGEMM = ("1_naive", "2_kernel_global_mem_coalesce", "3_kernel_shared_mem_blocking", "4_kernel_1D_blocktiling",
         "5_kernel_2D_blocktiling", "6_kernel_vectorize", "10_kernel_warptiling")  # fmt: skip
FLOW = "#define GAMMA {gamma}\nenum {{ NDIM = 3, VAR_DENSITY = 0, VAR_MOMENTUM = 1, VAR_DENSITY_ENERGY = 4 }};\n"
OF_FLOW = ("compute_velocity", "compute_speed_sqd", "compute_pressure", "compute_speed_of_sound",
           "cuda_compute_step_factor")  # fmt: skip
SAMPLES = {
    "transpose.cu": "Samples/6_Performance/transpose/transpose.cu",
    "reduction.cu": "Samples/2_Concepts_and_Techniques/reduction/reduction_kernel.cu",
}
SRAD = "rodinia/cuda/srad/srad_v1/srad_kernel.cu"
# file: what stands before the functions, and the functions of each public file
EXCERPTS: dict[str, tuple[str, dict[str, tuple[str, ...]]]] = {
    "chunks.cu": ("", {"cuda-samples/Samples/3_CUDA_Features/globalToShmemAsyncCopy/globalToShmemAsyncCopy.cu":
                       ("MatrixMulNaive", "MatrixMulNaiveLargeChunk")}),
    "samples.cu": (
        "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n#define IMUL(a, b) __mul24(a, b)\n"
        "#define ACCUM_N 1024\n#define KERNEL_RADIUS 8\n__constant__ float c_Kernel[17] = {0.1f, 0.2f, 0.3f, 0.2f};\n"
        "enum { ROWS_BLOCKDIM_X = 16, ROWS_BLOCKDIM_Y = 4, ROWS_RESULT_STEPS = 8, ROWS_HALO_STEPS = 1 };\n",
        {"cuda-samples/Samples/2_Concepts_and_Techniques/scalarProd/scalarProd_kernel.cuh": ("scalarProdGPU",),
         "cuda-samples/Samples/2_Concepts_and_Techniques/boxFilter/boxFilter_kernel.cu":
         ("d_boxfilter_x", "d_boxfilter_y", "d_boxfilter_x_global", "d_boxfilter_y_global"),
         "cuda-samples/Samples/3_CUDA_Features/warpAggregatedAtomicsCG/warpAggregatedAtomicsCG.cu":
         ("atomicAggInc", "filter_arr"),
         "cuda-samples/Samples/2_Concepts_and_Techniques/convolutionSeparable/convolutionSeparable.cu":
         ("convolutionRowsKernel",),
         "cuda-samples/Samples/2_Concepts_and_Techniques/shfl_scan/shfl_scan.cu": ("shfl_scan_test",)}),
    "polybench.cu": (
        "#define DATA_TYPE float\n#define FLOAT_N 3214212.01\n#define M m\n#define NJ nj\n#define N n\n"
        "#define _PB_M m\n#define _PB_N n\n#define _PB_NI ni\n#define _PB_NJ nj\n",
        {"polybench/CUDA/2DCONV/2DConvolution.cu": ("convolution2D_kernel",),
         "polybench/CUDA/COVAR/covariance.cu": ("mean_kernel",),
         "polybench/CUDA/GRAMSCHM/gramschmidt.cu": ("gramschmidt_kernel3",),
         "polybench/CUDA/GEMVER/gemver.cu": ("gemver_kernel3",), "polybench/CUDA/ADI/adi.cu": ("adi_kernel1",)}),
    "rodinia.cu": (
        "#define fp float\n#define NUMBER_THREADS 512\n#define HEIGHT 16\n#define ETA 0.3\n#define MOMENTUM 0.3\n"
        "#define WIDTH 16\n",
        {"rodinia/cuda/srad/srad_v1/reduce_kernel.cu": ("reduce",), "rodinia/cuda/gaussian/gaussian.cu": ("Fan2",),
         "rodinia/cuda/kmeans/kmeans_cuda_kernel.cu": ("invert_mapping",),
         "rodinia/cuda/hotspot3D/opt1.cu": ("hotspotOpt1",), SRAD: ("srad",),
         "rodinia/cuda/backprop/backprop_cuda_kernel.cu": ("bpnn_layerforward_CUDA", "bpnn_adjust_weights_cuda")}),
    "doubles.cu": (FLOW.format(gamma="1.4"), {"rodinia/cuda/cfd/euler3d_double.cu": OF_FLOW}),
    "singles.cu": (FLOW.format(gamma="1.4f"), {"rodinia/cuda/cfd/euler3d.cu": OF_FLOW}),
}  # fmt: skip
WMMA = {"wmma.cu": "cudaTensorCoreGemm", "imma.cu": "immaTensorCoreGemm"}  # file: its sample
ALIGNED = "Samples/6_Performance/alignedTypes/alignedTypes.cu"
WORTH = 1.005
HELD_BACK = (1, 2, 3, 4)  # sets
TITLES = ("chosen, seen", "held back, rules made after a look", "second, rules made after a look",
          "third, mended after a look", "fourth, scored before a look")  # fmt: skip
LEARNT = (0, 1, 2)     # of whose pairs that are really better the interval of a promise is made


def public_sources(programs: Path, folder: Path) -> None:
    """Files that hold the kernels alone: the SGEMM ladder in one, the samples without their host code."""
    parts = ["#include <cassert>\ntypedef unsigned int uint;\n#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))\n"]
    for name in SGEMM:
        text = (programs / "sgemm/src/kernels" / f"{name}.cuh").read_text()
        parts.append(re.sub(r"^#(?:include|pragma once|define CEIL_DIV).*$", "", text, flags=re.M))
    (folder / "sgemm.cu").write_text("\n".join(parts))
    text = (programs / "cuda-samples" / ALIGNED).read_text()
    (folder / "aligned.cu").write_text(text[text.index("typedef") : text.index("template <class TData> int testCPU")])
    for name, path in SAMPLES.items():
        text = (programs / "cuda-samples" / path).read_text()
        end = text.find("template <class T> __global__ void cg_reduce")
        (folder / name).write_text(text if end < 0 else f"{text[:end]}#endif\n")
    for name, (before, sources) in EXCERPTS.items():
        parts = [function((programs / path).read_text(), each) for path, names in sources.items() for each in names]
        (folder / name).write_text("\n".join([before, *parts]))
    single = re.sub(r"(\d\.\d+)\b", r"\1f", function((programs / SRAD).read_text(), "srad"))
    (folder / "srad_single.cu").write_text(f"#define fp float\n#define NUMBER_THREADS 512\n{single}")
    for name, sample in WMMA.items():
        text = (programs / f"cuda-samples/Samples/3_CUDA_Features/{sample}/{sample}.cu").read_text()
        ends = (("#ifndef SHARED_MEMORY_LIMIT_64K", "__host__ void init"),
                ("__global__ void compute_gemm", "__host__ void mat"))  # fmt: skip
        slices = [text[text.index(start) : text.index(end)] for start, end in ends]
        (folder / name).write_text("#include <mma.h>\nusing namespace nvcuda;\n" + "\n".join(slices))


def function(text: str, name: str) -> str:
    """The definition of a function that ends in a line of its own."""
    before = r"^(?:template[^\n]*|__global__ void\s+|[^\n#/;*]*)"
    match = re.search(rf"{before}\b{name}\([^;{{]*{{(?:[^\n]*}}$|.*?^}})", text, re.M | re.S)
    assert match, name
    return match[0]


def question(side: dict[str, Any], places: list[Path]) -> Question:
    """One version of a pair."""
    path = next(place / side["file"] for place in places if (place / side["file"]).is_file())
    args = [parse_argument(word) for word in side["args"]]
    launch = warpbound.launch(grid=side["grid"], block=side["block"], smem=side.get("smem", 0), args=args)
    return Question(path, path.read_text(), side["kernel"], Options(compiler="nvrtc"), launch)


def answer(pair: dict[str, Any], places: list[Path]) -> dict[str, Any]:
    """Times of both versions, and the advice for the first, the best first."""
    board = warpbound.gpu(pair.get("gpu", BOARD))
    before = question(pair, places)
    after = question(pair | pair["better"], places)
    entry = analyze_kernel(compiled(before, board), board, before.launch, SETTINGS)
    advice = [(change.speedup, change.change) for change in changes_of_the_kernel(entry)]
    if pair.get("tried"):
        found = tried(before, board, SETTINGS, lambda steps: (variant for _, variant in steps)).entry
        advice += [(row.speedup or 0.0, f"tried: {row.mechanism}: {row.change}") for row in gains(found)]
    better = launch_time(compiled(after, board), board, after.launch, SETTINGS)
    advice = sorted((row for row in advice if row[0] >= WORTH), key=lambda row: -row[0])
    return {"name": pair["name"], "gain": (entry.time_s or 0) / (better.time_s or 1), "advice": advice}


def promise(pair: dict[str, Any], own: dict[str, Any]) -> float | None:
    """The gain of the first what-if that names the change; none that fills the GPU, too, where the grid stays."""
    what_ifs = [row for row in own["advice"] if not row[1].startswith("tried")]
    if pair["better"].get("grid", pair["grid"]) == pair["grid"]:
        what_ifs = [row for row in what_ifs if "; and " not in row[1] or "(fill the GPU)" not in row[1]]
    return next((gain for gain, words in what_ifs if any(word in words for word in pair["words"])), None)


def place_of(pair: dict[str, Any], own: dict[str, Any]) -> int:
    """The place of the first advice that names the change, from 1; 0 where none does."""
    ranked = enumerate(own["advice"], 1)
    return next((n for n, (_, words) in ranked if any(word in words for word in pair["words"])), 0)


def gains_of(pairs: list[dict[str, Any]], answers: dict[str, Any]) -> list[tuple[str, float, float]]:
    """The change of each pair, its promised and its obtained gain."""
    both = ((pair, answers[pair["name"]]) for pair in pairs)
    return [(pair["change"], gain, own["gain"]) for pair, own in both if (gain := promise(pair, own))]


def percentiles(known: list[tuple[str, float, float]]) -> tuple[tuple[float, float], tuple[float, float]]:
    """10th and 90th percentile: powers of promises up to SMALL, factors of larger ones."""
    powers = [math.log(gain) / math.log(promised) for _, promised, gain in known if promised <= SMALL]
    factors = [gain / promised for _, promised, gain in known if promised > SMALL]
    return ends(powers), ends(factors)


def ends(values: list[float]) -> tuple[float, float]:
    in_order = sorted(values)
    return in_order[len(values) // 10], in_order[9 * len(values) // 10]


def intervals(pairs: list[dict[str, Any]], answers: dict[str, Any]) -> Iterator[str]:
    """How many pairs the interval of a promise holds."""
    known = gains_of([pair for pair in pairs if int(pair.get("held_back", 0)) in LEARNT], answers)
    powers, factors = percentiles([row for row in known if row[-1] > 1 + RESOLVED])
    yield f"Eight of ten pairs obtain a power of {powers[0]:.2f} to {powers[1]:.2f} of a promise up to {SMALL:g}x,"
    yield f"of a larger promise {factors[0]:.2f} to {factors[1]:.2f} times its gain."
    for group in (0, *HELD_BACK):
        own = gains_of([pair for pair in pairs if int(pair.get("held_back", 0)) == group], answers)
        both = [(gain, promised_between(promised)) for _, promised, gain in own]
        inside = [low <= gain <= high for gain, (low, high) in both]
        yield f"Set {group}: {sum(inside)} of {len(inside)} lie in the shipped interval."


def table(pairs: list[dict[str, Any]], answers: dict[str, Any]) -> Iterator[str]:
    """Markdown: one row per pair, then the counts."""
    yield "| kernel, its better version | the change | first advice that names it | promised | better version | off |"
    yield "|---|---|--:|--:|--:|--:|"
    first, among, off = 0, 0, []
    for pair in pairs:
        own = answers[pair["name"]]
        place, promised = place_of(pair, own), promise(pair, own)
        first, among = first + (place == 1), among + (0 < place <= 3)
        if promised:
            off.append(abs(promised / own["gain"] - 1))
        cells = (pair["name"], pair["change"], str(place or "-"), f"{promised:.2f}x" if promised else "-")
        yield f"| {' | '.join(cells)} | {own['gain']:.2f}x | {f'{100 * off[-1]:.0f} %' if promised else '-'} |"
    yield ""
    shares = [f"{hits} ({100 * hits / len(pairs):.0f} %)" for hits in (first, among)]
    error = 100 * statistics.median(off)
    yield f"Of {len(pairs)} pairs, the first advice names the change in {shares[0]}, one of the first three in"
    yield f"{shares[1]}. The promise of a what-if is off by {error:.0f} % in the median."


def all_sets(pairs: list[dict[str, Any]], answers: dict[str, Any]) -> Iterator[str]:
    """Markdown: the counts of each set and of all pairs together."""
    yield "| set | pairs | first | among three | promise off, median |"
    yield "|---|--:|--:|--:|--:|"
    for name, groups in (*((title, (group,)) for group, title in enumerate(TITLES)), ("all", range(len(TITLES)))):
        own = [pair for pair in pairs if int(pair.get("held_back", 0)) in groups]
        places = [place_of(pair, answers[pair["name"]]) for pair in own]
        off = [abs(promised / gain - 1) for _, promised, gain in gains_of(own, answers)]
        shares = [100 * sum(0 < place <= most for place in places) / len(own) for most in (1, 3)]
        yield f"| {name} | {len(own)} | {shares[0]:.0f} % | {shares[1]:.0f} % | {100 * statistics.median(off):.0f} % |"


def main(programs: Path, kept: Path) -> None:
    pairs = tomllib.loads((HERE / "pairs.toml").read_text())["pairs"]
    lines = kept.read_text().splitlines() if kept.exists() else []
    answers = {row["name"]: row for row in map(json.loads, lines)}
    with tempfile.TemporaryDirectory() as folder, kept.open("a") as log:
        public_sources(programs, Path(folder))
        for pair in pairs:
            if pair["name"] not in answers:
                answers[pair["name"]] = answer(pair, [HERE, ROOT, Path(folder)])
                log.write(json.dumps(answers[pair["name"]]) + "\n")
                log.flush()
    groups = [[pair for pair in pairs if int(pair.get("held_back", 0)) == group] for group in (0, *HELD_BACK)]
    lines = [*(line for group in groups for line in (*table(group, answers), "")), *all_sets(pairs, answers), "",
             *intervals(pairs, answers)]  # fmt: skip
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
