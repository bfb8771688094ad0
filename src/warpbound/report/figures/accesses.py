"""One warp's access: the sectors of global memory, or the banks of shared memory, that it touches.

Source   V. Volkov, EECS-2016-143, Figures 2.1 and 2.2; the rules are those of `memory`, compute capability 5.x
         and later.
"""

import numpy as np
from numpy.typing import NDArray

from warpbound.memory import banks, coalescing
from warpbound.report.figures.picture import Axis, Boxes, Layer, Picture, Style
from warpbound.report.figures.theme import FILLS

ARCH = 80
SECTOR_B, LINE_B, WORD_B = 32, 128, 4
MOST_LINES, FEW_LINES = 40, 12  # rows of a sector map; a map of more rows has lower ones
LANES_NAMED = 4  # lanes named in a box
_MOVED, _STAYS = Style("blue"), Style("muted", fill=0.08)
VOLKOV = "V. Volkov, Understanding Latency Hiding on GPUs, EECS-2016-143"


def sector_map(addresses: NDArray[np.uint64], width: int, title: str = "Sectors of one access") -> Picture:
    """Byte addresses of the active lanes, shape (lanes,), `width` bytes each: lines as rows, sectors in four columns.

    The box of a sector that memory transfers names the lanes it serves; the other boxes of a touched line are empty.
    """
    own = np.asarray(addresses, dtype=np.uint64)
    lanes = _lanes_by_sector(own, width)
    lines = sorted({line for line, _ in lanes})[:MOST_LINES]
    places = [(line, sector) for line in lines for sector in range(LINE_B // SECTOR_B)]
    lane_places = [place for place in places if place in lanes]
    layers: list[Layer] = [
        _boxes("moved", lane_places, lines, _MOVED, tuple(_span(lanes[place]) for place in lane_places))
    ]
    if len(lane_places) < len(places):
        layers.append(_boxes("not asked for", [p for p in places if p not in lanes], lines, _STAYS))
    useful, traffic = _bytes_asked(own, width), len(lanes) * SECTOR_B
    return Picture(
        title=title,
        x=Axis("byte within the line", names=("0-31", "32-63", "64-95", "96-127"), span=(-0.5, 3.5)),
        y=Axis("line of 128 bytes", names=_rows(lines), span=(len(lines) - 0.5, -0.5)),
        layers=tuple(layers),
        source=VOLKOV + ", section 2.5 and Figure 2.1, with sectors of 32 bytes",
        caption=f"The numbers are lanes of the warp. {len(own)} lanes access {useful} different bytes; {traffic} are "
        f"moved in {len(lanes)} sector{'s' * (len(lanes) > 1)}, of which {100 * useful / traffic:.0f} % are used.",
        height=170 + (34 if len(lines) <= FEW_LINES else 20) * len(lines),
    )


def _rows(lines: list[int]) -> tuple[str, ...]:
    """Line numbers relative to the first line; the base address does not matter."""
    first, *others = lines
    return ("first", *(f"+{(line - first) * LINE_B} B" for line in others))


def _lanes_by_sector(addresses: NDArray[np.uint64], width: int) -> dict[tuple[int, int], list[int]]:
    """(line, sector within it) -> lanes that touch it."""
    lanes_of: dict[tuple[int, int], list[int]] = {}
    for lane, address in enumerate(addresses.tolist()):
        for sector in range(address // SECTOR_B, (address + width - 1) // SECTOR_B + 1):
            lanes_of.setdefault(divmod(sector, LINE_B // SECTOR_B), []).append(lane)
    return lanes_of


def _bytes_asked(addresses: NDArray[np.uint64], width: int) -> int:
    return len({byte for address in addresses.tolist() for byte in range(address, address + width)})


def _boxes(
    name: str, places: list[tuple[int, int]], rows: list[int], style: Style, texts: tuple[str, ...] = ()
) -> Boxes:
    """Unit boxes, a little apart, at (row, column) places."""
    x = np.array([column for _, column in places], dtype=np.float64)
    y = np.array([rows.index(row) for row, _ in places], dtype=np.float64)
    return Boxes(name, x - 0.47, x + 0.47, y - 0.43, y + 0.43, texts, style)


def _span(lanes: list[int]) -> str:
    """`0-7`, `3`, or `0, 5, 9`."""
    if len(lanes) > 1 and lanes == list(range(lanes[0], lanes[-1] + 1)):
        return f"{lanes[0]}-{lanes[-1]}"
    words = ", ".join(map(str, lanes[:LANES_NAMED]))
    return words if len(lanes) <= LANES_NAMED else f"{words} +{len(lanes) - LANES_NAMED}"


def bank_map(addresses: NDArray[np.uint64], title: str = "Banks of one shared-memory access") -> Picture:
    """Byte addresses of 4-byte words that the active lanes read, shape (lanes,): banks as columns.

    One box per distinct word, stacked in its bank: the height of the fullest bank is the number of wavefronts.
    """
    words = (np.asarray(addresses, dtype=np.uint64) // np.uint64(WORD_B)).tolist()
    in_bank: dict[int, dict[int, list[int]]] = {}
    for lane, word in enumerate(words):
        in_bank.setdefault(word % banks.BANKS, {}).setdefault(word, []).append(lane)
    wavefronts = int(_wavefronts(np.asarray(addresses, dtype=np.uint64)))
    layers = []
    for height in range(wavefronts):
        here = [(bank, list(own.values())[height]) for bank, own in sorted(in_bank.items()) if len(own) > height]
        x = np.array([bank for bank, _ in here], dtype=np.float64)
        y = np.full(len(here), float(height))
        texts = tuple(str(lanes[0]) if len(lanes) == 1 else f"{lanes[0]}+" for _, lanes in here)
        style = FILLS[height % len(FILLS)]
        layers.append(Boxes(f"wavefront {height + 1}", x - 0.46, x + 0.46, y - 0.45, y + 0.45, texts, style))
    return Picture(
        title=title,
        x=Axis("bank", span=(-0.6, banks.BANKS - 0.4)),
        y=Axis("wavefront", names=tuple(map(str, range(1, wavefronts + 1))), span=(wavefronts - 0.4, -0.6)),
        layers=tuple(layers),
        source=VOLKOV + ", section 2.6 and Figure 2.2, with 32 banks of 4 bytes",
        caption=f"The number in a box is the first lane that accesses that word, + where others share it. The access "
        f"takes {wavefronts} wavefront{'s' if wavefronts != 1 else ''}: the different words in the fullest bank.",
        height=210 + 24 * wavefronts,
    )


def _wavefronts(addresses: NDArray[np.uint64]) -> int:
    """Wavefronts of the access, by the rule of `memory.banks`; absent lanes are idle."""
    lanes = np.zeros((1, coalescing.LANES), np.uint64)
    lanes[0, : len(addresses)] = addresses
    active = (np.arange(coalescing.LANES) < len(addresses))[None, :]
    return int(banks.wavefronts(lanes, active, WORD_B, ARCH).actual[0])
