"""Which NVRTC compiles: that of this process, or another release in a process of its own."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from warpbound.program import nvrtc, nvrtc_release
from warpbound.quick_dataclasses import dataclass


@dataclass(frozen=True)
class Nvrtc:
    """A release of NVRTC: `13.5`, its version in full, how it compiles, and its folders of headers."""

    release: str
    version: str
    build: Callable[[nvrtc.Unit, Sequence[str], Sequence[str]], nvrtc.Made]
    folders: Callable[[], AbstractContextManager[tuple[Path, ...]]]


def own() -> Nvrtc:
    """The NVRTC of this process, that of CUDA 13."""
    return Nvrtc(nvrtc.release(), nvrtc.version(), nvrtc.build, nvrtc.header_folders)


def of_release(name: str) -> Nvrtc:
    """The NVRTC of a release such as 12.6. Raises MissingTool where it is not installed."""
    if name == nvrtc.release():
        return own()
    other = nvrtc_release.release(name)

    def build(unit: nvrtc.Unit, flags: Sequence[str], instances: Sequence[str]) -> nvrtc.Made:
        def by_process(unit: nvrtc.Unit, flags: Sequence[str], instances: Sequence[str]) -> nvrtc.Made:
            answer = nvrtc_release.build(
                nvrtc_release.Task(
                    str(other.path), unit.code, unit.name, dict(unit.headers), list(flags), list(instances)
                )
            )
            return nvrtc.Made(answer.cubin, answer.titles, answer.log)

        return nvrtc.without_rejected_instances(by_process, unit, flags, instances)

    @contextmanager
    def folders() -> Iterator[tuple[Path, ...]]:
        with nvrtc.header_folders() as (replacements, _, library):
            yield (replacements, *other.include, *([library] if name.partition(".")[0] != "11" else []))

    return Nvrtc(other.name, f"{other.name} {other.path}", build, folders)
