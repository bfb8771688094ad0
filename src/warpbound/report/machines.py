"""What the catalogue, the models and the installation hold, for `gpus`, `models`, `occupancy` and `doctor`."""

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from warpbound.isa.limits import MEANINGS, settable
from warpbound.machine import PARAMETERS, Claim, Gpu
from warpbound.report.charts import Fitting
from warpbound.report.tables import ruled_table
from warpbound.result.catalogue import (
    Board,
    BoardParameter,
    CheckedBoards,
    OtherSource,
    SmLimit,
    TakenParameter,
)  # fmt: skip
from warpbound.time_model.parameter_fallbacks import parameter_fallbacks


def gpu_entry(gpu: Gpu) -> Board:
    """A board with every value, unit, source and how it became known."""
    fallbacks = parameter_fallbacks(gpu) if gpu.board else {}
    return Board(
        name=gpu.key,
        title=gpu.name,
        compute_capability=gpu.compute_capability,
        aliases=list(gpu.aliases),
        hypothetical=gpu.hypothetical,
        parameters={
            name: BoardParameter(
                q.value, q.unit, q.source, q.how, q.note, [OtherSource(o.value, o.source, o.note) for o in q.others]
            )
            for name, q in gpu.parameters.items()
        },
        stand_ins={name: TakenParameter(each.value, each.unit, each.origin) for name, each in fallbacks.items()},
        limits={
            name: SmLimit(value, MEANINGS[name].unit, MEANINGS[name].words)
            for name, value in settable(gpu.limits).items()
        },
        limits_sources=list(gpu.limits.sources),
    )


def oldest_first(gpus: Iterable[Gpu]) -> list[Gpu]:
    """By compute capability, then by name."""
    return sorted(gpus, key=lambda gpu: (gpu.arch, gpu.key))


def catalogue(gpus: Sequence[Gpu]) -> RenderableType:
    """One row a board."""
    columns = ("name", "cc", "SMs", "boost MHz", "DRAM GB/s", "L2 MiB", "assumed")
    table = ruled_table(columns, words=("name",))
    for gpu in gpus:
        table.add_row(
            gpu.key, gpu.compute_capability,
            f"{gpu.get('sm_count') or 0:.0f}", f"{(gpu.get('boost_clock') or 0) / 1e6:.0f}",
            f"{(gpu.get('dram_bandwidth') or 0) / 1e9:.0f}", f"{l2 / 2**20:.4g}" if (l2 := gpu.get("l2_size")) else "-",
            f"{len(gpu.assumed)} of {len(gpu.parameters)}",
        )  # fmt: skip
    made_up = ", ".join(gpu.key for gpu in gpus if gpu.hypothetical)
    notes = [Text("warpbound gpus NAME shows every value of one with its source.", "dim")]
    if made_up:
        notes.append(Text(f"Invented by papers; --gpu all omits them: {made_up}.", "dim"))
    return Group(Fitting(table), *notes)


def board(gpu: Gpu) -> RenderableType:
    """Every parameter of one board and limit of its SMs; sources are numbered and listed at the end."""
    numbers: dict[str, int] = {}
    lines: list[RenderableType] = [Text(f"{gpu.name}, compute capability {gpu.compute_capability}", "bold")]
    if gpu.hypothetical:
        lines.append(Text("A machine invented by a paper; --gpu all omits it.", "dim"))
    if gpu.aliases:
        lines.append(Text(f"Also called {', '.join(gpu.aliases)}.", "dim"))
    for name, quantity in gpu.parameters.items():
        lines.append(Text.assemble(
            f"\n{name:27} {quantity.value:>8g} {quantity.unit:12} ",
            (f"{quantity.how:9}", "yellow" if quantity.how == "assumed" else ""),
            (f" [{_number(quantity.source, numbers)}]", "dim"),
        ))  # fmt: skip
        notes = [PARAMETERS[name].meaning, quantity.note, *(_claim(claim, numbers) for claim in quantity.others)]
        lines.append(Padding(Text("; ".join(filter(None, notes)), "dim"), (0, 0, 0, 4)))
    if gpu.board:
        lines.append(Text("\nNot known for this board; predictions use", "bold"))
    for name, fallback in (parameter_fallbacks(gpu) if gpu.board else {}).items():
        lines.append(Text(f"{name:27} {fallback.value:>8.4g} {fallback.unit:12} from {fallback.origin}"))
        lines.append(Padding(Text(PARAMETERS[name].meaning, "dim"), (0, 0, 0, 4)))
    lines.append(Text(f"\nOne SM, by compute capability [{_number('; '.join(gpu.limits.sources), numbers)}]", "bold"))
    for name, value in settable(gpu.limits).items():
        unit = MEANINGS[name].unit
        lines.append(Text.assemble(f"{name:27} {value:>8} {unit:12} ", (MEANINGS[name].words, "dim")))
    lines.append(Text("\nSources", "bold"))
    lines += [Text(f"[{number}] {source}") for source, number in numbers.items()]
    return Group(*lines)


def _claim(claim: Claim, numbers: dict[str, int]) -> str:
    return f"{claim.value:g} in [{_number(claim.source, numbers)}]" + (f" ({claim.note})" if claim.note else "")


def _number(source: str, numbers: dict[str, int]) -> int:
    return numbers.setdefault(source, len(numbers) + 1)


def check_entry(findings: Mapping[str, Sequence[str]]) -> CheckedBoards:
    """What `gpus --check` found, by board."""
    return CheckedBoards(len(findings), {key: list(sentences) for key, sentences in findings.items() if sentences})


def check_text(findings: Mapping[str, Sequence[str]]) -> RenderableType:
    """The same for reading."""
    sentences = [sentence for sentences_of_kind in findings.values() for sentence in sentences_of_kind]
    boards = f"{len(findings)} board{'s' if len(findings) != 1 else ''}"
    if not sentences:
        return Text(f"{boards} checked: the values agree with one another and with the architecture.")
    return Text("\n".join([f"{boards} checked:", *sentences]))
