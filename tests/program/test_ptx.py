"""PTX through nvJitLink: the same program as from the source, names of parameters, refusals in one sentence."""

import subprocess
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

from support.fatbin_images import SCALE
from warpbound import InputError, MissingTool
from warpbound.machine import gpu
from warpbound.program import nvjitlink
from warpbound.program.cuda import Options
from warpbound.program.kernel import Program
from warpbound.program.source_files import Source, programs

pytestmark = pytest.mark.cuda
linked = pytest.mark.skipif(not nvjitlink.version(), reason="nvJitLink is not installed (the extra ptx)")

PTX = """// a comment with .entry not(this)
.version 7.0
.target sm_75
.address_size 64
.visible .entry _Z5scalePKffPf(
    .param .u64 .ptr .global .align 4 values,
    .param .f32 _Z5scalePKffPf_param_1, /* .param .u32 nor_this */
    .param .u64 _Z5scalePKffPf_param_2
)
.maxntid 128, 1, 1
{
    .reg .f32 %f<4>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<8>;
LINE1
    ld.param.u64 %rd1, [values];
    ld.param.f32 %f1, [_Z5scalePKffPf_param_1];
    ld.param.u64 %rd2, [_Z5scalePKffPf_param_2];
    cvta.to.global.u64 %rd3, %rd2;
    cvta.to.global.u64 %rd4, %rd1;
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd5, %r1, 4;
    add.s64 %rd6, %rd4, %rd5;
LINE2
    ld.global.f32 %f2, [%rd6];
    mul.f32 %f3, %f2, %f1;
    add.s64 %rd7, %rd3, %rd5;
    st.global.f32 [%rd7], %f3;
    ret;
}
.entry other(.param .align 8 .b8 box[24]) { ret; }
.entry none { ret; }
"""
PLAIN = PTX.replace("LINE1", "").replace("LINE2", "")
LOCATED = PTX.replace("LINE1", ".loc 1 1 0").replace("LINE2", ".loc 1 3 5") + '.file 1 "scale.cu"\n'


def kernels(source: Source, name: str = "sm_90", kernel: str | None = None) -> list[Program]:
    return list(programs(source, gpu(name), kernel, Options()))


def scale(source: Source, name: str = "sm_90") -> Program:
    (found,) = kernels(source, name, "scale")
    return found


@linked
@pytest.mark.parametrize("name", ["sm_75", "sm_80", "sm_90", "sm_120"])
def test_the_same_work_as_from_the_source(name: str) -> None:
    ours, theirs = scale(PLAIN, name), scale(SCALE, name)
    kinds = [{one.opcode for one in program.instructions} for program in (ours, theirs)]
    for opcodes in kinds:
        assert {"LDG", "STG", "FMUL", "EXIT"} <= opcodes
    assert (ours.arch, ours.name, ours.title) == (theirs.arch, theirs.name, theirs.title)
    assert [(one.offset, one.size) for one in ours.parameters] == [(one.offset, one.size) for one in theirs.parameters]
    assert ours.parameter_base == theirs.parameter_base
    assert ours.max_threads == 128
    assert ours.assumed == ()


@linked
def test_names_that_the_signature_gives() -> None:
    assert [(one.name, one.type) for one in scale(PLAIN).parameters] == [
        ("values", ".u64 .ptr .global .align 4"), ("", ".f32"), ("", ".u64"),
    ]  # fmt: skip
    (other,) = kernels(PLAIN, kernel="other")
    assert [(one.name, one.type, one.size) for one in other.parameters] == [("box", ".align 8 .b8[24]", 24)]
    assert {one.title for one in kernels(PLAIN)} == {"scale", "other", "none"}


@linked
def test_lines_where_the_ptx_has_them() -> None:
    (load,) = (one for one in scale(LOCATED).instructions if one.opcode == "LDG")
    assert load.place is not None
    assert (Path(load.place.file).name, load.place.line) == ("scale.cu", 3)
    assert {one.place for one in scale(PLAIN).instructions} == {None}


@linked
def test_files_and_trailing_zeros(tmp_path: Path) -> None:
    path = tmp_path / "scale.ptx"
    path.write_bytes(PLAIN.encode() + b"\0\0")
    assert scale(path).source_name == str(path)


@linked
def test_older_machines_by_proxy() -> None:
    found = scale(PLAIN.replace("sm_75", "sm_60"), "sm_61")
    assert (found.arch, found.proxy_isa) == (75, "sm_75")


@linked
@pytest.mark.parametrize("target, name, arch", [("sm_90a", "sm_90", 90), ("sm_100f", "sm_103", 103)])
def test_ptx_tied_to_machines_that_fit(target: str, name: str, arch: int) -> None:
    assert scale(PLAIN.replace("sm_75", target).replace("7.0", "8.8"), name).arch == arch


@pytest.mark.parametrize(
    "target, name", [("sm_90", "sm_89"), ("sm_90a", "sm_100"), ("sm_100f", "sm_120"), ("sm_75", "sm_61")]
)
def test_ptx_for_other_machines(target: str, name: str) -> None:
    number = name.removeprefix("sm_")
    with pytest.raises(InputError, match=rf"is PTX for {target}; .* is sm_{number} and cannot run it\. Choose a GPU"):
        kernels(PLAIN.replace("sm_75", target), name)


@linked
@pytest.mark.parametrize(
    "old, new, said",
    [
        (".version 7.0", ".version 99.0", r"is PTX of a later version than nvJitLink [\d.]+ reads \(up to \d+\.\d\)"),
        ("mul.f32", "mul.foo", r"does not assemble: line \d+: .*'\.foo' \(the first of 2 errors\)\. Correct"),
        ("%f3;\n    ret", "%f3;\n    call square;\n    ret", r"does not assemble: line \d+: .*square"),
        (".target sm_75", ".target sm_74", "does not assemble: line 3: Unsupported .target 'sm_74'"),
        ("ret;\n}", "ret;\n", r"does not assemble: line \d+:"),
    ],
)
def test_refusals_of_the_linker(old: str, new: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        kernels(PLAIN.replace(old, new))
    assert "\n" not in str(refused.value)


@linked
def test_a_function_that_is_elsewhere() -> None:
    text = PLAIN.replace(".visible", ".extern .func away;\n.visible", 1).replace("mov.u32", "call away;\n    mov.u32")
    with pytest.raises(InputError, match="calls away, which is not in it. Give the linked program"):
        kernels(text)


@pytest.mark.parametrize(
    "old, new, said",
    [
        (".version 7.0", "", "is not PTX: it has no .version line"),
        (".target sm_75", "", "is not PTX: it has no .target line"),
        (".target sm_75", ".target map_f64_to_f32", "map_f64_to_f32 is not an architecture"),
        (".entry", ".func", r"is PTX without a kernel \(\.entry\)"),
    ],
)
def test_what_is_no_ptx_with_a_kernel(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = tmp_path / "k.ptx"
    path.write_text(PLAIN.replace(old, new))
    with pytest.raises(InputError, match=said):
        kernels(path)


def test_without_the_linker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvjitlink, "version", lambda: "")
    with pytest.raises(MissingTool, match=r"<input> is PTX, and nvJitLink.* is not installed. .*'warpbound\[ptx\]'"):
        kernels(PLAIN)


@linked
def test_ptx_that_keeps_the_linker_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "never_answers.py").write_text("import threading\nthreading.Event().wait()\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(nvjitlink, "CHILD", "never_answers")
    monkeypatch.setattr(nvjitlink, "TIMEOUT_S", 0.5)
    with pytest.raises(InputError, match=r"<input> does not assemble: nvJitLink was stopped after 0.5 s without an"):
        kernels(PLAIN.replace("128, 1, 1", "96, 1, 1"))


@linked
@pytest.mark.parametrize("child", ["warpbound.no_such_module", "this"])
def test_a_linker_that_breaks_down(monkeypatch: pytest.MonkeyPatch, child: str) -> None:
    monkeypatch.setattr(nvjitlink, "CHILD", child)
    with pytest.raises(InputError, match=r"does not assemble: nvJitLink broke down on it \(exit status \d\). Correct"):
        kernels(PLAIN.replace("128, 1, 1", f"{len(child)}, 1, 1"))


def test_a_linker_process_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing() -> None:
        raise MissingTool("not here")

    monkeypatch.setattr(nvjitlink, "_library", nothing)
    said = nvjitlink.answer(msgspec.msgpack.encode(nvjitlink.Task("PTX", [b""], [])))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(stdout=said, returncode=0))
    with pytest.raises(MissingTool, match=r"pip install 'warpbound\[ptx\]"):
        nvjitlink.link("PTX", [b""], [])


@linked
def test_the_second_time_nothing_is_linked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    first = scale(PLAIN)

    def never(*_: object) -> None:
        raise AssertionError("called again")

    monkeypatch.setattr(nvjitlink, "link", never)
    assert scale(PLAIN) == first


def test_a_listing_and_a_source_are_not_taken_for_ptx() -> None:
    with pytest.raises(InputError, match="outside any"):
        kernels("\t.target\tsm_90\n/*0000*/ EXIT ;\n")
    text = '__global__ void k() { asm volatile("// .version 7.0\\n\\t.target sm_75"); }\n'
    assert [one.title for one in kernels(text)] == ["k"]
