"""Fat binaries and what holds them: the image a driver would take, and clear words where there is none."""

import random
from contextlib import suppress
from pathlib import Path

import pytest

from support.fatbin_images import CUBIN, DATA, FAMILY, LZ4, PTX, SCALE, TIED, ZSTD, fat, host_program, image
from warpbound import InputError, MissingTool, WarpboundError
from warpbound.machine import gpu
from warpbound.program import nvjitlink
from warpbound.program.cuda import Options, compile_cuda
from warpbound.program.fatbin import containers
from warpbound.program.kernel import Program
from warpbound.program.source_files import Source, programs

pytestmark = pytest.mark.cuda
linked = pytest.mark.skipif(not nvjitlink.version(), reason="nvJitLink is not installed (the extra ptx)")

FILES = 4000
ZSTD_FAT, LZ4_FAT, UNLINKED = DATA / "scale_zstd.fatbin", DATA / "scale_lz4.fatbin", DATA / "unlinked.o"
TEXT = b".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry scale() { ret; }\n"
OTHER = "__global__ void other(int* x) { x[0] = 3; }\n"


def kernels(source: Source, name: str, kernel: str | None = None) -> list[Program]:
    return list(programs(source, gpu(name), kernel, Options()))


def cubin(arch: int, text: str = SCALE) -> bytes:
    return compile_cuda(text, "k.cu", arch, Options()).cubin


# ---------------------------------------------------------------- what nvcc wrote


@pytest.mark.parametrize(
    "name, arch, features",
    [("sm_80", 80, ""), ("sm_86", 80, ""), ("sm_89", 80, ""), ("sm_90", 90, "a"), ("sm_100", 100, ""),
     ("sm_103", 100, "")],
)  # fmt: skip
def test_the_image_that_the_machine_runs(name: str, arch: int, features: str) -> None:
    (found,) = kernels(ZSTD_FAT, name)
    assert (found.title, found.arch, found.features) == ("scale", arch, features)
    assert [one.size for one in found.parameters] == [8, 4, 8]
    assert found.assumed == ()
    assert {"LDG", "STG", "FMUL"} <= {one.opcode for one in found.instructions}


@linked
@pytest.mark.parametrize("name, arch", [("sm_120", 120), ("sm_121", 121), ("sm_87", 87)])
@pytest.mark.parametrize("path", [ZSTD_FAT, LZ4_FAT], ids=["zstd", "lz4"])
def test_ptx_where_no_machine_code_fits(path: Path, name: str, arch: int) -> None:
    (found,) = kernels(path, name)
    assert (found.title, found.arch) == ("scale", arch)
    assert f"no machine code for {name}: made from its PTX for compute_80 by nvJitLink" in found.assumed[-1]


def test_an_older_machine_is_told_what_is_inside() -> None:
    with pytest.raises(InputError) as refused:
        kernels(ZSTD_FAT, "t4")
    assert str(refused.value).startswith(
        f"{ZSTD_FAT} holds PTX for compute_80, sm_100f, sm_80 and sm_90a; Tesla T4, sm_75, can run no kernel of it. "
    )


@linked
@pytest.mark.parametrize("name", ["sm_80", "sm_86"])
def test_an_object_that_is_not_linked_yet(name: str) -> None:
    (found,) = kernels(UNLINKED, name)
    assert (found.title, f"sm_{found.arch}") == ("squares", name)
    assert [one.size for one in found.parameters] == [8]
    assert {"LDG", "STG", "CALL", "FMUL", "RET"} <= {one.opcode for one in found.instructions}
    assert (len(found.functions), found.assumed) == (1, ())


def test_an_object_that_is_not_linked_yet_needs_the_linker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvjitlink, "version", lambda: "")
    with pytest.raises(MissingTool, match=r"is not linked yet \(-rdc=true\), and nvJitLink is not installed"):
        kernels(UNLINKED, "sm_80")


def test_the_same_with_the_suffix_of_a_program(tmp_path: Path) -> None:
    path = tmp_path / "scale"
    path.write_bytes(host_program(ZSTD_FAT.read_bytes()))
    (found,) = kernels(path, "sm_90")
    (alone,) = kernels(ZSTD_FAT, "sm_90")
    assert found.instructions == alone.instructions


# ---------------------------------------------------------------- which image


def test_the_closest_machine_code_and_the_tied_one_before_others() -> None:
    old, new = cubin(80), cubin(86)
    both = fat(image(CUBIN, 80, old), image(CUBIN, 86, new), image(PTX, 75, TEXT))
    assert [kernels(both, name)[0].arch for name in ("sm_80", "sm_86", "sm_89")] == [80, 86, 86]
    plain, tied = cubin(90), cubin(90, OTHER)
    pair = fat(image(CUBIN, 90, plain), image(CUBIN, 90, tied, TIED))
    assert [one.title for one in kernels(pair, "sm_90")] == ["other"]
    assert containers(fat(image(CUBIN, 100, b"", FAMILY)), "x")[0][0].features == "f"


def test_every_unit_of_a_program_and_the_one_that_holds_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    units = [fat(image(CUBIN, 90, cubin(90, text))) for text in (SCALE, OTHER)]
    program = host_program(*units, fat())
    assert [one.title for one in kernels(program, "sm_90")] == ["scale", "other"]
    read: list[bytes] = []

    def noted(raw: bytes, name: str) -> tuple[Program, ...]:
        read.append(raw)
        return ()

    monkeypatch.setattr("warpbound.program.embedded_code.from_cubin", noted)
    with pytest.raises(InputError):
        kernels(program, "sm_90", "other")
    assert len(read) == 1


def test_an_unknown_kernel_is_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match="has no kernel `nope`. It holds: scale"):
        kernels(ZSTD_FAT, "sm_90", "nope")


def test_libraries_and_windows_programs() -> None:
    unit = fat(image(CUBIN, 90, cubin(90)))
    for beginning in (b"!<arch>\nlibk.a/ \0", b"MZ\x90\x00\x03\x00"):
        assert [one.title for one in kernels(beginning + bytes(40) + unit, "sm_90")] == ["scale"]


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    "raw, said",
    [
        (host_program(), "is an ELF file, but not for an NVIDIA GPU, and holds no code for one"),
        (b"!<arch>\nx\0", "is an archive, but not for an NVIDIA GPU"),
        (fat(), "holds a fat binary with nothing in it; sm_90"),
        (b"\x50\xed\x55\xba" + bytes(100), "is a fat binary that is damaged"),
        (fat(image(CUBIN, 90, b"x" * 64))[:-8], "its fat binary is cut off"),
        (fat(image(CUBIN, 90, b"x" * 64)[:-8]), "an image of its fat binary is cut off"),
        (fat(image(CUBIN, 90, b"x", 0x4000, 9)), r"sm_90 is compressed in a way that is not known \(flags 0x4011\)"),
        (fat(image(CUBIN, 90, b"\xff" * 8, LZ4, 9)), r"its image sm_90 is damaged \(LZ4"),
        (fat(image(CUBIN, 90, b"\xff" * 8, ZSTD, 9)), r"its image sm_90 is damaged \(Zstandard"),
        (fat(image(CUBIN, 90, b"x", LZ4, 1 << 40)), "states 1048576 MB unpacked; the limit is 128 MB"),
        (fat(image(CUBIN, 70, b".text.k")), "holds sm_70; sm_90 .*can run no kernel of it"),
        (fat(image(CUBIN, 90, b".text.k")), "truncated or not a cubin"),
        (fat(image(PTX, 100, TEXT)), "holds PTX for compute_100; "),
        (fat(image(16, 90, b"x")), "holds a fat binary with nothing in it"),
    ],
)
def test_what_cannot_be_answered(raw: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        kernels(raw, "sm_90")
    assert "\n" not in str(refused.value)


def test_damage_is_refused_in_our_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Containers and images; what follows them is damaged elsewhere."""
    monkeypatch.setattr("warpbound.program.embedded_code.from_cubin", lambda *_: ())
    monkeypatch.setattr("warpbound.program.embedded_code.from_ptx", lambda *_: ())
    monkeypatch.setattr("warpbound.program.embedded_code.nvjitlink.version", lambda: "")
    source = random.Random(8)
    files = [ZSTD_FAT.read_bytes(), LZ4_FAT.read_bytes(), UNLINKED.read_bytes(), host_program(ZSTD_FAT.read_bytes())]
    for _ in range(FILES):
        changed = bytearray(source.choice(files))
        for _ in range(source.choice((1, 2, 8, 64))):
            at = source.randrange(min(len(changed), source.choice((100, 10_000))))
            changed[at] = source.choice((0, 255, source.randrange(256)))
        cut = bytes(changed[: source.randrange(1, len(changed))] if source.random() < 0.2 else changed)
        with suppress(WarpboundError):
            kernels(cut, source.choice(("sm_80", "sm_90", "sm_120")))
