"""Workload files: what they may say, what it means on a board, how each refusal reads, and `predict`."""

import json
import tomllib
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from support.toml_text import toml
from warpbound.analysis.workload_prediction import launched, predicted, predictions
from warpbound.cli import main
from warpbound.errors import CommandError, InputError
from warpbound.machine import gpu
from warpbound.models import MODELS
from warpbound.report.document import schema
from warpbound.residency import occupancy
from warpbound.workload.files import levels, read, shipped, work_on
from warpbound.workload.files.lanes import fp32_lanes, issue_rate, pipe_cycles

SCHEMA = schema("workload")
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
A100, CLOCK = gpu("a100-sxm-80gb"), 1.41e9

WHOLE = """
title = "vector add"
source = "a person"
gpu = "a100-sxm-80gb"
clock = 1410
[launch]
threads = 1000000
threads_per_block = 256
registers = 16
[counts]
per = "warp"
barriers = 1
lanes = 31
pipes = { alu = 6, fma = 1 }
flop = { fp32 = 32 }
[[access]]
kind = "load"
per = "warp"
count = 2
l1_hit = 0.5
l2_hit = 0.25
[[access]]
kind = "store"
per = "launch"
count = 31256
[[access]]
kind = "shared_load"
per = "warp"
count = 3
bytes = 8
[latency]
phases = [{ from = "dram", loads = 2 }, { from = "alu", times = 6 }, { cycles = 7, cause = "barrier" }]
[inputs.hong_kim_2009]
mem_latency = 500
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "workload.toml"
    path.write_text(text, encoding="utf-8")
    return path


def only(folder: Path, text: str):
    (case,) = read(written(folder, text))
    return case


# --- what a file means ---


def test_counts_accesses_and_phases_become_a_workload(tmp_path):
    case = only(tmp_path, WHOLE)
    work = work_on(case, A100, CLOCK)
    known = levels(A100, CLOCK)
    assert (case.blocks, case.warps, work.warps) == (3907, 31256.0, 31256.0)
    assert work.warp_instructions == 6 + 1 + 2 + 1 + 3
    assert work.thread_instructions == 31 * work.warp_instructions
    assert work.by_pipe == {"alu": 6, "fma": 1, "lsu": 6}
    assert work.units == {pipe: count * pipe_cycles(A100, pipe) for pipe, count in work.by_pipe.items()}
    assert (work.barriers, work.flop) == (1, {"fp32": 32})
    memory = work.memory
    assert (memory.global_load_requests, memory.global_store_requests) == (2, pytest.approx(1))
    assert (memory.l1_sectors_load, memory.l2_sectors_read) == (8, 4)
    assert (memory.dram_bytes_read, memory.dram_bytes_written) == (3 * 32, pytest.approx(128))
    assert memory.shared_wavefronts_load == 6
    assert work.parts == {"dram": known["dram"], "fixed": 6 * known["alu"], "barrier": 7}
    assert work.latency == sum(work.parts.values())
    assert work.phases == (2,)


def test_launch_gives_residency(tmp_path):
    x = launched(only(tmp_path, WHOLE), A100)
    resident = occupancy(A100, 256, 16, 0)
    assert (x.warps_per_sm, x.blocks_per_sm) == (resident.warps_per_sm, resident.blocks_per_sm)
    assert x.threads_per_block == 256
    assert x.clock_hz == 1.41e9
    assert launched(only(tmp_path, WHOLE), A100, "base").clock_hz == A100.value("base_clock")
    direct = WHOLE.replace("registers = 16", "blocks_per_sm = 3")
    assert launched(only(tmp_path, direct), A100).warps_per_sm == 24
    direct = WHOLE.replace("registers = 16", "warps_per_sm = 20")
    assert launched(only(tmp_path, direct), A100).blocks_per_sm == 2.5


def test_per_launch_is_per_warp_times_the_warps(tmp_path):
    head = 'title = "x"\n[launch]\nblocks = 10\nthreads_per_block = 64\n'
    counts = "[counts]\nper = {0}\ninstructions = {1}\nflop = {{ fp64 = {1} }}\n"
    counts += "[memory]\nper = {0}\ndram_bytes_read = {1}"
    one = work_on(only(tmp_path, head + counts.format('"warp"', 7)), A100, CLOCK)
    all_ = work_on(only(tmp_path, head + counts.format('"launch"', 140)), A100, CLOCK)
    assert one == all_
    assert one.memory.dram_bytes_read == 7


def test_memory_replaces_what_accesses_add_up_to(tmp_path):
    case = only(tmp_path, WHOLE + '[memory]\nper = "warp"\ndram_bytes_read = 5\n')
    memory = work_on(case, A100, CLOCK).memory
    assert (memory.dram_bytes_read, memory.l1_sectors_load) == (5, 8)


def test_cases_replace_keys_and_merge_launch_and_inputs(tmp_path):
    text = (
        WHOLE
        + """
[[case]]
name = "a"
launch.blocks = 5
inputs.hong_kim_2009.issue_cycles = 1
[[case]]
name = "b"
counts = { per = "warp", instructions = 3 }
access = []
"""
    )
    a, b = read(written(tmp_path, text))
    assert (a.name, a.blocks, a.shape.threads, a.shape.registers) == ("vector add: a", 5, None, 16)
    assert a.inputs == {"hong_kim_2009": {"mem_latency": 500, "issue_cycles": 1}}
    assert (b.blocks, b.counts.pipes, b.access, b.inputs) == (3907, None, (), {"hong_kim_2009": {"mem_latency": 500}})


def test_old_machines_have_no_caches_and_their_own_widths():
    g80 = gpu("8800gtx")
    assert levels(g80, 1.35e9) == {"shared": 38, "dram": 444, "alu": 20}
    assert levels(g80, 2.7e9)["dram"] == 888
    assert (issue_rate(g80), fp32_lanes(g80), pipe_cycles(g80, "fp64")) == (0.5, 8, 0)
    assert (issue_rate(gpu("gtx680")), fp32_lanes(gpu("gtx680"))) == (4, 192)
    assert [pipe_cycles(gpu(name), "fp64") for name in ("c2050", "gtx480", "gtx570")] == [4, 16, 16]
    assert (issue_rate(A100), fp32_lanes(A100)) == (4, 64)


def test_symbols_take_the_types_of_the_model(tmp_path):
    intervals = "[{insts = 3, latency = 400}, {insts = 1, latency = 9}]"
    text = f'title = "x"\n[inputs.huang_2014]\nwarps = 8\nintervals = {intervals}'
    said = predicted(only(tmp_path, text), A100, models=("huang_2014",)).models["huang_2014"]
    assert said.rate > 0
    assert said.time_s is None


# --- refusals ---

HEAD = 'title = "x"\n'
ACCESS = HEAD + '[[access]]\nkind = "load"\nper = "warp"\ncount = 1\n'


@pytest.mark.parametrize(
    "text, parts",
    [
        ("", ["has no title", "Add title"]),
        (HEAD + "[count]", ["no key 'count'", "Did you mean 'counts'?"]),
        (HEAD + "[counts]", ["counts has no per", "of one warp or of all"]),
        (HEAD + '[counts]\nper = "wrap"', ["counts.per: 'wrap'", "Did you mean 'warp'?"]),
        (HEAD + '[counts]\nper = "warp"\npipes = {fmaa = 1}', ["counts.pipes has no key 'fmaa'", "'fma'"]),
        (HEAD + '[counts]\nper = "warp"\nlanes = 33', ["counts.lanes", "<= 32"]),
        (HEAD + '[counts]\nper = "warp"\ninstructions = "many"', ["counts.instructions", "got a text"]),
        (HEAD + '[counts]\nper = "warp"\ninstructions = nan', ["counts.instructions is nan", "finite"]),
        (HEAD + "[launch]\nthreads_per_block = 2048", ["launch.threads_per_block", "<= 1024"]),
        (HEAD + "[launch]\nblocks = 1\nthreads = 1", ["launch has both blocks and threads"]),
        (HEAD + "[launch]\nblocks_per_sm = 1\nwarps_per_sm = 1", ["both blocks_per_sm and warps_per_sm"]),
        (HEAD + "clock = 'bost'", ["clock: 'bost'", "'boost'"]),
        (HEAD + '[[access]]\nkind = "lod"\nper = "warp"\ncount = 1', ["access[0].kind: 'lod'", "'load'"]),
        (ACCESS + "bytes = 3", ["access[0].bytes: '3'", "Known are 1, 2, 4, 8, 16"]),
        (ACCESS + "wavefronts = 3", ["access[0].wavefronts is not possible with kind 'load'"]),
        (ACCESS.replace("load", "store") + "l1_hit = 0.5", ["l1_hit is not possible with kind 'store'"]),
        (ACCESS.replace("load", "shared_load") + "sectors = 4", ["sectors is not possible with kind 'shared_load'"]),
        (ACCESS + "l1_hit = 1.5", ["access[0].l1_hit", "<= 1"]),
        (HEAD + "[latency]", ["latency has neither parts nor phases", "parts by cause"]),
        (HEAD + "[latency]\nparts = {dram = 1}\nphases = [{cycles = 1}]", ["latency has both parts and phases"]),
        (HEAD + "[latency]\nphases = [{times = 2}]", ["latency.phases[0] has neither from nor cycles"]),
        (HEAD + '[latency]\nphases = [{from = "l2", cycles = 2}]', ["phases[0].cycles is not possible together"]),
        (HEAD + '[latency]\nphases = [{from = "alu", loads = 2}]', ["loads is for global loads"]),
        (HEAD + '[latency]\nphases = [{from = "drm"}]', ["latency.phases[0].from: 'drm'", "'dram'"]),
        (HEAD + "[inputs.volkov_2015]\nlatency = 1", ["no model is called 'volkov_2015'", "'volkov_2016'"]),
        (HEAD + "[inputs.volkov_2016]\nlatancy = 1", ["inputs.volkov_2016: there is no symbol 'latancy'", "'latency'"]),
        (HEAD + "[inputs.volkov_2016]\nbusy = 1", ["inputs.volkov_2016.busy is a number, not a table", "Give a table"]),
        (HEAD + "[inputs.volkov_2016]\nlatency = {a = 1}", ["latency is a table", "Give a number"]),
        (HEAD + "[inputs.huang_2014]\nintervals = [{inst = 1}]", ["has no key 'inst'", "'insts'"]),
        (HEAD + "[[case]]\nlaunch.blocks = 1", ["case[0] has no name"]),
        (HEAD + '[[case]]\nname = "a"\n[[case]]\nname = "a"', ["case[1]: 'a' is there twice"]),
        (HEAD + '[[case]]\nname = "a"\nlaunch = {blocks = 0}', ["case[0].launch.blocks", ">= 1"]),
        ("title = = 1", ["is not TOML", "Correct"]),
    ],
)  # fmt: skip
def test_refusals_name_file_key_and_way_out(tmp_path, text, parts):
    path = written(tmp_path, text)
    with pytest.raises(InputError) as refusal:
        read(path)
    assert all(part in str(refusal.value) for part in [str(path), *parts]), str(refusal.value)
    assert refusal.value.hint


def test_totals_need_the_size_of_the_launch(tmp_path):
    with pytest.raises(InputError, match="counts are per launch.*Add blocks"):
        work_on(only(tmp_path, HEAD + '[counts]\nper = "launch"\ninstructions = 1'), A100, CLOCK)


def test_a_level_that_the_gpu_lacks_is_refused(tmp_path):
    case = only(tmp_path, HEAD + '[latency]\nphases = [{from = "l2"}]')
    with pytest.raises(InputError, match='GTX.* has no latency for "l2".*It has shared, dram, alu'):
        work_on(case, gpu("8800gtx"), 1.35e9)


def test_files_that_are_not_there(tmp_path):
    for name in ("none.toml", "."):
        with pytest.raises(InputError, match="cannot be read.*docs/workload-files.md|cannot be read"):
            read(str(tmp_path / name))
    with pytest.raises(InputError, match="Did you mean 'hong-kim-table-2'"):
        read("hong-kim-tabel-2")


# --- the schema accepts what the reader accepts ---


def test_schema_is_valid_and_so_are_its_examples(tmp_path):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for example in SCHEMA["examples"]:
        VALIDATOR.validate(example)
        read(written(tmp_path, toml(example)))


NUMBER = st.sampled_from([0, 1, 1.5, 32, 33, -1, 1e31, "1", True])
WHOLE_NUMBER = st.sampled_from([0, 1, 32, 1024, 1025, 2**31, 2**53 + 1, -1, 1.5, "1", True])
PER = st.sampled_from(["warp", "launch", "block"])


def table(required=None, **optional):
    return st.fixed_dictionaries(required or {}, optional=optional)


PHASE = table(
    cycles=NUMBER,
    cause=st.sampled_from(["fixed", "dram", "moon"]),
    times=NUMBER,
    loads=WHOLE_NUMBER,
    **{"from": st.sampled_from(["dram", "l2", "alu", "shared", "moon"])},
)
PARTS = {
    "gpu": st.sampled_from(["h200", 1]),
    "clock": st.sampled_from(["base", "boost", "bast", 1000, 1.5, 0, -1, True]),
    "launch": table(
        threads_per_block=WHOLE_NUMBER, blocks=WHOLE_NUMBER, threads=WHOLE_NUMBER, registers=WHOLE_NUMBER,
        blocks_per_sm=NUMBER, warps_per_sm=NUMBER, wrong=NUMBER,
    ),
    "counts": table(
        per=PER, instructions=NUMBER, lanes=NUMBER, barriers=NUMBER, pipes=table(fma=NUMBER, wrong=NUMBER),
        flop=table(fp32=NUMBER, int8=NUMBER), tensor=table(int8=NUMBER, fp32=NUMBER),
    ),
    "access": st.lists(
        table(
            {"kind": st.sampled_from(["load", "store", "shared_load", "shared_store", "atom"])},
            per=PER, count=NUMBER, bytes=st.sampled_from([1, 2, 3, 4, 16, "4"]), sectors=NUMBER, l1_hit=NUMBER,
            l2_hit=NUMBER, wavefronts=NUMBER,
        ),
        max_size=2,
    ),
    "memory": table(per=PER, dram_bytes_read=NUMBER, l1_wavefronts=NUMBER, wrong=NUMBER),
    "latency": table(parts=table(dram=NUMBER, moon=NUMBER), phases=st.lists(PHASE, max_size=2)),
    "inputs": table(volkov_2016=table(latency=st.sampled_from([1, 2.5, "1", True]))),
}  # fmt: skip
ONE_TABLE = st.one_of(*(st.fixed_dictionaries({name: part}) for name, part in PARTS.items()))


@given(part=ONE_TABLE, case=st.booleans(), title=st.booleans())
def test_schema_and_reader_agree(tmp_path_factory, part, case, title):
    document = {"title": "x"} if title else {}
    document |= {"case": [{"name": "a"} | part]} if case else part
    try:
        read(written(tmp_path_factory.getbasetemp(), toml(document)))
        accepted = True
    except InputError:
        accepted = False
    assert accepted == VALIDATOR.is_valid(document)


# --- the papers' workloads ---


@pytest.mark.parametrize("name", shipped())
def test_shipped_workloads_are_valid_sourced_and_answered(name):
    text = (files("warpbound") / "workloads" / f"{name}.toml").read_text(encoding="utf-8")
    VALIDATOR.validate(tomllib.loads(text))
    assert all(case.source and case.gpu for case in read(name))
    first = read(name)[0]
    said = predicted(first, gpu(first.gpu.split(",")[0]), models=tuple(MODELS))
    assert set(said.models) == set(MODELS)
    for answer in said.models.values():
        assert (answer.rate is not None) or answer.reason


# --- predict ---


def invoke(*words: str):
    return CliRunner().invoke(main, ["predict", *words])


def test_predict_shows_bounds_time_and_every_model(tmp_path):
    path = str(written(tmp_path, WHOLE))
    done = invoke(path)
    assert done.exit_code == 0, done.output
    assert all(name in done.output for name in MODELS)
    assert "DRAM bandwidth binds" in done.output
    done = invoke(path, "--gpu", "h200,8800gtx", "--models", "volkov_2016,hong_kim_2009", "--format", "json")
    results = json.loads(done.stdout)["results"]
    assert [entry["gpu"] for entry in results] == ["h200", "8800gtx"]
    assert list(results[0]["models"]) == ["roofline_2009", "volkov_2016", "hong_kim_2009"]
    assert results[0]["time_s"] > 0
    assert results[0]["bottleneck"] in ("launch", "latency")
    assert results[1]["bounds"][0]["resource"] == "dram"


def test_time_is_the_headline_prediction_where_it_has_what_it_needs(tmp_path):
    def said(text, board="a100-sxm-80gb"):
        (entry,) = predictions(str(written(tmp_path, text)), board)
        return entry

    large = WHOLE.replace("threads = 1000000", "threads = 16777216")
    ours = said(large)
    low, high = ours.time_interval_s
    assert low < ours.time_s < high
    assert any("flow balance" in note for note in ours.assumed)
    parts = large.split("phases")[0] + "parts = { dram = 568, fixed = 24 }"
    bounds = said(parts)
    assert bounds.time_interval_s is None
    assert any("tightest of Volkov's bounds" in note for note in bounds.assumed)
    old = said(large, "gtx980")
    assert old.time_interval_s[1] / old.time_s > high / ours.time_s  # nothing was fitted to it
    assert said(parts).time_s < ours.time_s


def test_predict_says_nothing_of_time_without_latency_or_warps(tmp_path):
    (entry,) = predictions(str(written(tmp_path, WHOLE.split("[latency]")[0])))
    assert (entry.time_s, entry.latency, entry.warps_needed) == (None, None, None)
    assert "latency" not in [bound.resource for bound in entry.bounds]
    assert "the latency of one warp is not given" in entry.assumed[0]
    for text in ("", "[launch]\nwarps_per_sm = 4\n[latency]\nparts = { dram = 400 }"):
        (entry,) = predictions(str(written(tmp_path, HEAD + 'gpu = "h200"\n' + text)))
        assert (entry.bottleneck, entry.bounds) == (None, [])
    assert invoke(str(tmp_path / "workload.toml")).exit_code == 0


def test_predict_refusals(tmp_path):
    path = str(written(tmp_path, WHOLE))
    bare = tmp_path / "bare.toml"
    bare.write_text(HEAD)
    for words, code, part in (
        ([path, "--gpu", "h2000"], 2, "Did you mean"),
        ([path, "--gpu", "sm_90"], 1, "is not a board"),
        ([path, "--case", "a"], 2, "has no case 'a'. It has no cases."),
        ([path, "--models", "astrology"], 2, "No model is called 'astrology'"),
        ([path, "--clock", "fast"], 2, "Clock 'fast'"),
        ([str(tmp_path / "no.toml")], 1, "cannot be read"),
        ([str(bare)], 2, "No GPU given"),
    ):
        done = invoke(*words)
        assert done.exit_code == code, (words, done.output)
        assert part in done.stderr
        assert "internal error" not in done.stderr


@pytest.mark.parametrize(
    "gpu_line, launch_line, option, fragment",
    [
        ('gpu = "h20"', "registers = 24", ("--gpu", "h20"), "GPU 'h20' is not in the catalogue. Did you mean h200"),
        ('gpu = "h200"\nclock = 1e30', "registers = 24", ("--clock", "1e30"), "A clock of 1e+30 MHz is out of range"),
        ('gpu = "h200"', "registers = 999", (), "999 registers per thread are not possible for compute capability 9.0"),
    ],
)
def test_who_is_to_blame_for_a_workload(tmp_path, gpu_line, launch_line, option, fragment):
    """What the file says wrongly is no fault of the command line; what an option says on top of it is."""
    wrong = tmp_path / "wrong.toml"
    sizes = "[launch]\nblocks = 16\nthreads_per_block = 128\n"
    wrong.write_text(f'title = "guess"\n{gpu_line}\n{sizes}{launch_line}\n')
    said = CliRunner().invoke(main, ["predict", str(wrong)])
    assert (said.exit_code, said.stdout) == (1, "")
    assert said.stderr.startswith(f"warpbound: workload file '{wrong}': {fragment}")
    if option:
        right = tmp_path / "right.toml"
        right.write_text(f'title = "guess"\ngpu = "h200"\n{sizes}')
        said = CliRunner().invoke(main, ["predict", str(right), *option])
        assert (said.exit_code, said.stdout) == (2, "")
        assert said.stderr.startswith(f"warpbound: {fragment}")


def test_cases_are_chosen_by_name_and_failures_stand_beside_answers():
    (entry,) = predictions("hong-kim-micro", cases=("Mb3_UC",))
    assert entry.kernel == "micro-benchmark: Mb3_UC"
    with pytest.raises(CommandError, match="has no case 'Mb9'. Its cases are Mb1_C"):
        predictions("hong-kim-micro", cases=("Mb9",))
    results = predictions("hong-kim-table-2", "8800gtx,sm_90")
    assert "not a board" in results[1].error.reason
    assert CliRunner().invoke(main, ["predict", "hong-kim-table-2", "--gpu", "8800gtx,sm_90"]).exit_code == 0
