"""Pictures as SVG, without a browser or a package: the same bytes each time, so that a test can compare them.

A file carries both modes: colours are classes, and a rule in its style turns them where the reader's screen is dark.
"""

from html import escape
from textwrap import wrap

from warpbound.report.figures.picture import (
    Band,
    Bars,
    Boxes,
    Curve,
    Drawable,
    Layer,
    Panels,
    Picture,
    Points,
    Rule,
    Style,
)  # fmt: skip
from warpbound.report.figures.svg.frames import Box, framed
from warpbound.report.figures.svg.marks import SMALL, marks, place, stroke, text
from warpbound.report.figures.theme import DARK, LIGHT, Theme, with_styles

WIDTH = 760.0
PANEL_HEIGHT, PANEL_TITLE = 230.0, 22.0
LEGEND_LINE, LEGEND_LETTER, SWATCH = 19.0, 6.2, 34.0
CAPTION_LINE, CAPTION_LETTERS = 15.0, 124
SIDE = 10.0
WORDS_OF_A_PICTURE = 110.0  # pixels of its height that are title, legend and caption elsewhere


def svg(picture: Drawable) -> str:
    """One file: title, plots, legend, caption and source. Colours follow the reader's light or dark mode."""
    top = 30.0
    body, bottom = _panels(picture, top) if isinstance(picture, Panels) else _single(picture, top)
    legend, bottom = _legend(picture, bottom + 6.0)
    words, bottom = _caption(picture, bottom + 4.0)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {place(WIDTH)} {place(bottom)}" '
        f'width="{place(WIDTH)}" height="{place(bottom)}" role="img">'
    )
    description = f"{picture.caption} Source: {picture.source}".strip()
    parts = [
        head,
        f"<title>{escape(picture.title, quote=False)}</title>",
        f"<desc>{escape(description, quote=False)}</desc>",
        f"<style>{STYLE}</style>",
        f'<rect class="f-paper" width="{place(WIDTH)}" height="{place(bottom)}"/>',
        text(picture.title, (SIDE, 20.0), "title"),
        *body,
        *legend,
        *words,
        "</svg>\n",
    ]
    return "\n".join(part for part in parts if part)


def _single(picture: Picture, top: float) -> tuple[list[str], float]:
    bottom = top + picture.height - WORDS_OF_A_PICTURE
    return [framed(picture, Box(SIDE, top, WIDTH - SIDE, bottom), 1)], bottom


def _panels(panels: Panels, top: float) -> tuple[list[str], float]:
    width = (WIDTH - SIDE) / panels.columns
    markup, bottom = [], top
    for number, picture in enumerate(panels.pictures):
        row, column = divmod(number, panels.columns)
        left, up = SIDE + column * width, top + row * (PANEL_HEIGHT + PANEL_TITLE)
        bottom = up + PANEL_TITLE + PANEL_HEIGHT
        if picture.title:
            markup.append(text(picture.title, (left, up + 15.0), "panel"))
        markup.append(framed(picture, Box(left, up + PANEL_TITLE, left + width - SIDE, bottom), number + 1))
    return markup, bottom


def _legend(picture: Drawable, top: float) -> tuple[list[str], float]:
    """Named layers in rows, each name once."""
    pictures = picture.pictures if isinstance(picture, Panels) else (picture,)
    styles: dict[str, tuple[Layer, Style]] = {}
    for plot in pictures:
        for layer, style in with_styles(plot.layers):
            if not isinstance(layer, Rule) and layer.name:
                styles.setdefault(layer.name, (layer, style))
    markup, x, y = [], SIDE, top + 12.0
    for name, (layer, style) in styles.items():
        width = SWATCH + LEGEND_LETTER * len(name) + 18.0
        if x + width > WIDTH and x > SIDE:
            x, y = SIDE, y + LEGEND_LINE
        markup += [_swatch(layer, style, x, y - 4.0), text(name, (x + SWATCH, y), "tick")]
        x += width
    return markup, y + 6.0 if styles else top


def _swatch(layer: Layer, style: Style, x: float, y: float) -> str:
    if isinstance(layer, Bars | Boxes | Band):
        share = 0.22 if isinstance(layer, Band) else style.fill
        return (
            f'<rect class="f-{style.colour} s-{style.colour}" fill-opacity="{share:g}" x="{place(x + 2)}" '
            f'y="{place(y - 5)}" width="24" height="10"/>'
        )
    if isinstance(layer, Points):
        return marks(style.symbol, [x + 14.0], [y], style.colour, 5.0)
    line = f'<path{stroke(style)} d="M{place(x)} {place(y)}h28"/>'
    symbol = layer.marks if isinstance(layer, Curve) else "none"
    return line + (marks(symbol, [x + 14.0], [y], style.colour, SMALL) if symbol != "none" else "")


def _caption(picture: Drawable, top: float) -> tuple[list[str], float]:
    lines = [*wrap(picture.caption, CAPTION_LETTERS), *wrap(f"Source: {picture.source}", CAPTION_LETTERS)]
    texts = [text(line, (SIDE, top + CAPTION_LINE * (n + 1)), "caption") for n, line in enumerate(lines)]
    return texts, top + CAPTION_LINE * len(lines) + 10.0


def _colours(theme: Theme) -> str:
    """Classes f-NAME and s-NAME, of fills and strokes."""
    every = theme.colours | {"paper": theme.paper}
    rules = [f".f-{name}{{fill:{colour}}}.s-{name}{{stroke:{colour}}}" for name, colour in every.items()]
    ink, muted = theme.ink, theme.muted
    rules.append(f".grid{{stroke:{theme.grid}}}.axis{{stroke:{muted}}}text{{fill:{ink}}}.caption{{fill:{muted}}}")
    return "".join([*rules, f".halo{{stroke:{theme.paper}}}"])


STYLE = (
    "path,rect{fill:none}text{font:12.5px system-ui,'DejaVu Sans',sans-serif;stroke:none}"
    ".tick,.caption{font-size:11.5px}.small{font-size:10.5px}.title{font-size:15px;font-weight:bold}"
    ".panel{font-weight:bold}.grid,.axis{stroke-width:1}.halo{font-size:11.5px;paint-order:stroke;stroke-width:3}"
    + _colours(LIGHT)
    + f"@media screen and (prefers-color-scheme:dark){{{_colours(DARK)}}}"
)
