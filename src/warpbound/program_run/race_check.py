"""Races on shared memory in the launches of a program, in sentences."""

from collections.abc import Iterator

from warpbound.emulate.emulator import line_of
from warpbound.emulate.shared_races import SEVERAL, Race, shared_races, unchecked
from warpbound.errors import WarpboundError
from warpbound.program.kernel import Program
from warpbound.program_run.device_memory import Heap
from warpbound.program_run.launches import Request

BLOCKS = 2  # blocks of a launch in which races are looked for


class RaceCheck:
    """Looks at the first blocks of the first launch of each shape."""

    def __init__(self, heap: Heap) -> None:
        self.heap = heap
        self._known: set[tuple[object, ...]] = set()

    def of(self, request: Request) -> Iterator[str]:
        """Sentences about races in a launch, before it is executed."""
        if request.shape in self._known:
            return
        self._known.add(request.shape)
        program = request.kernel.program
        if why := unchecked(program):
            yield f"{program.title}: races on shared memory are not looked for: {why} orders accesses."
            return
        count = request.grid[0] * request.grid[1] * request.grid[2]
        try:
            races = shared_races(program, request.launch(self.heap.snapshot), range(min(BLOCKS, count)))
        except WarpboundError:
            return  # the execution that follows states why
        for race in races:
            yield _sentence(program, race)


def _sentence(program: Program, race: Race) -> str:
    first, second = (line_of(program, at) for at in (race.first, race.second))
    earlier, later = race.warps
    who = f"warp {later} and several others" if earlier == SEVERAL else f"warps {earlier} and {later}"
    places = f"{first}, and {second}" if race.first != race.second else f"{first}, in both"
    return (
        f"{program.title}: a race on shared memory: {places}: {who} of block {race.block}, address {race.address:#x}: "
        "no barrier orders these accesses."
    )
