"""Colours and line styles: distinct without colour sight, on paper and on a dark screen.

Source   M. Okabe, K. Ito, "Color Universal Design", 2008: the eight colours. The first, black, is the ink of the
         page; on dark paper it turns white, and blue takes a lighter shade of the same hue.
"""

from collections.abc import Iterator

from warpbound.quick_dataclasses import dataclass
from warpbound.report.figures.picture import Layer, Style

OKABE_ITO = {
    "blue": "#0072b2",
    "vermilion": "#d55e00",
    "green": "#009e73",
    "orange": "#e69f00",
    "sky": "#56b4e9",
    "purple": "#cc79a7",
    "yellow": "#f0e442",
}


@dataclass(frozen=True)
class Theme:
    """paper: background; grid: lines behind the data; colours: name -> hexadecimal."""

    name: str
    paper: str
    grid: str
    colours: dict[str, str]

    @property
    def ink(self) -> str:
        """Colour of lines and words."""
        return self.colours["ink"]

    @property
    def muted(self) -> str:
        """Colour of axes and of words beside the data."""
        return self.colours["muted"]


LIGHT = Theme("light", "#ffffff", "#e3e6ea", OKABE_ITO | {"ink": "#1b1f24", "muted": "#5b6570"})
DARK = Theme(
    "dark", "#14181d", "#2f363e", OKABE_ITO | {"ink": "#e8ecf1", "muted": "#a3adb8", "blue": "#3d9fe0"}
)

# Curves without a style of their own take these in turn: colour, dash and marker all change.
CYCLE = (
    Style("blue", "solid", "circle"),
    Style("vermilion", "dash", "square"),
    Style("green", "dot", "diamond"),
    Style("purple", "dashdot", "triangle-up"),
    Style("orange", "longdash", "cross"),
    Style("sky", "5px,2px,1px,2px,1px,2px", "x"),
    Style("ink", "8px,3px", "star"),
    Style("muted", "2px,2px", "pentagon"),
)


def with_styles(layers: tuple[Layer, ...]) -> Iterator[tuple[Layer, Style]]:
    """Every layer with a style; layers without their own take the next of the cycle."""
    colour_number = 0
    for layer in layers:
        if layer.style is None:
            yield layer, CYCLE[colour_number % len(CYCLE)]
            colour_number += 1
        else:
            yield layer, layer.style


def nth(number: int) -> tuple[Style, str]:
    """Style and marks of the n-th line of many: those beyond the cycle carry marks, full, then open, then others."""
    style, turn = CYCLE[number % len(CYCLE)], number // len(CYCLE)
    symbols = ("none", style.symbol, f"{style.symbol}-open", "hexagon", "hexagon-open", "bowtie", "bowtie-open")
    return style, symbols[turn % len(symbols)]


PREDICTION = Style("ink", "solid", "circle", 3.0)  # prediction of the tool or of a model
HERE = Style("vermilion", "solid", "star", 2.0)  # the analysed kernel

# Areas beside each other: distinct by hue, by how strong it is, and by the text in them. The shares are those that
# keep all pairs farthest apart, on light and dark paper, for all three kinds of colour blindness, under readable text.
FILLS = tuple(
    Style(name, fill=share)
    for name, share in {
        "blue": 0.55, "vermilion": 0.75, "green": 0.7, "purple": 0.65, "orange": 0.35, "sky": 0.3, "yellow": 0.25,
        "muted": 0.25,
    }.items()
)  # fmt: skip
