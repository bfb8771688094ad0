"""Merges cubins so that one call of nvdisasm disassembles them all: its start-up dominates the time.

Source   the ELF format (System V ABI); what nvdisasm prints of the joined cubin is, kernel by kernel, what it prints
         of each alone, checked on the kernels of the corpora for sm_75 to sm_120.
Models   Sections of code and what their symbols lie in, renamed apart; one table of symbols, one of source lines.
Omits    All that a listing of code does not show: notes, frames, the compiler's PTX, kernel attributes.
"""

import re
import struct
from collections.abc import Sequence

from warpbound.quick_dataclasses import dataclass

_HEADER_B, _SECTION = 64, struct.Struct("<IIQQQQIIQQ")
_SYMBOL, _RELOCATION = struct.Struct("<IBBHQQ"), {4: struct.Struct("<QQq"), 9: struct.Struct("<QQ")}  # RELA, REL
_SYMTAB, _STRTAB, _NOBITS, _FIRST_RESERVED = 2, 3, 8, 0xFF00
_LEFT_OUT = re.compile(
    r"\.nv\.info$|\.(note|nv_debug|debug_|nv\.callgraph|nv\.compat|nv\.rel|rela?\.nv_debug|rela?\.debug_|symtab|strtab|shstrtab)|$"
)
_LINES, _LINES_MOVED = ".debug_line", {4: ".rela.debug_line", 9: ".rel.debug_line"}
_MARK = "__part{number}__"
_TITLE = re.compile(r"^//-{10,} (\S+) +-{10,}$", re.M)
_WORD = re.compile(r"/\* 0x([0-9a-f]{16}) \*/")
_LABEL = re.compile(r"\.L_x_(\d+)\b")


_Symbol = tuple[int, int, tuple[str, int, int, int, int, int]]  # cubin, number there, name and the rest of it


@dataclass
class _Section:
    """name, the ten fields of its header, contents, the cubin that it is from."""

    name: str
    head: list[int]
    contents: bytes
    cubin: int


def joined(images: Sequence[bytes]) -> bytes | None:
    """One cubin with the code of all; None if they are not of one kind, or contain names that look like the marks."""
    if len({(image[:16], image[48:52]) for image in images}) != 1 or any(b"__part" in image for image in images):
        return None
    parts = [_sections(image, number) for number, image in enumerate(images)]
    merged: list[_Section] = [_Section("", [0] * 10, b"", 0)]
    places: list[dict[int, int]] = []  # of each cubin: number of a section there -> here
    for sections in parts:
        own = {i: section for i, section in enumerate(sections) if not _LEFT_OUT.match(section.name)}
        places.append({i: len(merged) + n for n, i in enumerate(own)})
        merged += own.values()
    symbols, names, first_global, new_numbers = _symbols(parts, places)
    table = len(merged)
    for section in merged[1:]:
        _relinked(section, places[section.cubin], new_numbers[section.cubin], table)
        section.name += _MARK.format(number=section.cubin)
    lines, relocations, kind = _lines(parts, new_numbers)
    merged += [
        _Section(".symtab", [0, _SYMTAB, 0, 0, 0, 0, table + 1, first_global, 8, _SYMBOL.size], symbols, 0),
        _Section(".strtab", [0, _STRTAB, 0, 0, 0, 0, 0, 0, 1, 0], names, 0),
        _Section(_LINES, [0, 1, 0, 0, 0, 0, 0, 0, 1, 0], lines, 0),
        _Section(
            _LINES_MOVED[kind], [0, kind, 0x40, 0, 0, 0, table, table + 2, 8, _RELOCATION[kind].size], relocations, 0
        ),
    ]
    return _written(images[0][:_HEADER_B], merged)


def listings(text: str, count: int) -> list[str]:
    """The listing of each of `count` joined cubins; labels are numbered from 0 in each, as nvdisasm does."""
    titles = list(_TITLE.finditer(text))
    ends = [title.start() for title in titles[1:]] + [len(text)]
    head = text[: titles[0].start()] if titles else text
    result = [head] * count
    for title, end in zip(titles, ends, strict=True):
        for number in range(count):
            if title[1].endswith(_MARK.format(number=number)):
                result[number] += text[title.start() : end].replace(_MARK.format(number=number), "")
    return [_renumbered(listing) for listing in result]


def is_of(listing: str, image: bytes) -> bool:
    """Whether the encodings that a listing shows are the code of the cubin, section by section, to the last bit."""
    code = {
        section.name: section.contents
        for section in _sections(image, 0)
        if section.name.startswith(".text.") and section.contents
    }
    titles = list(_TITLE.finditer(listing))
    ends = [title.start() for title in titles[1:]] + [len(listing)]
    code_sections = {
        title[1]: b"".join(int(word, 16).to_bytes(8, "little") for word in _WORD.findall(listing[title.end() : end]))
        for title, end in zip(titles, ends, strict=True)
        if title[1].startswith(".text.")
    }
    return code_sections == code


def _renumbered(listing: str) -> str:
    labels = sorted({int(label) for label in _LABEL.findall(listing)})
    numbers = {number: place for place, number in enumerate(labels)}
    return _LABEL.sub(lambda label: f".L_x_{numbers[int(label[1])]}", listing)


def _sections(image: bytes, cubin: int) -> list[_Section]:
    (at,) = struct.unpack_from("<Q", image, 40)
    count, names_in = struct.unpack_from("<HH", image, 60)
    heads = [list(_SECTION.unpack_from(image, at + _SECTION.size * i)) for i in range(count)]
    names = heads[names_in][4]
    return [
        _Section(_text(image, names + head[0]), head,
                 b"" if head[1] == _NOBITS else image[head[4] : head[4] + head[5]], cubin)
        for head in heads
    ]  # fmt: skip


def _text(table: bytes, at: int) -> str:
    return table[at : table.index(b"\0", at)].decode(errors="surrogateescape")


def _named(sections: Sequence[_Section], name: str) -> bytes:
    return next((section.contents for section in sections if section.name == name), b"")


def _symbols(
    parts: Sequence[Sequence[_Section]], places: Sequence[dict[int, int]]
) -> tuple[bytes, bytes, int, list[dict[int, int]]]:
    """Table of symbols, their names, the first that is not local, and for each cubin: number there -> number here."""
    new_numbers = [dict[int, int]() for _ in parts]
    local, others = list[_Symbol](), list[_Symbol]()
    for cubin, sections in enumerate(parts):
        own, names = _named(sections, ".symtab"), _named(sections, ".strtab")
        for number in range(1, len(own) // _SYMBOL.size):
            name, info, other, section, value, size = _SYMBOL.unpack_from(own, _SYMBOL.size * number)
            if 0 < section < _FIRST_RESERVED:
                if section not in places[cubin]:
                    continue
                section = places[cubin][section]
            text = _text(names, name)
            here = (text + _MARK.format(number=cubin) if text else "", info, other, section, value, size)
            (others if info >> 4 else local).append((cubin, number, here))
    table, texts = bytearray(_SYMBOL.size), bytearray(1)
    for place, (cubin, number, (title, *rest)) in enumerate(local + others, start=1):
        new_numbers[cubin][number] = place
        table += _SYMBOL.pack(len(texts), *rest)
        texts += title.encode(errors="surrogateescape") + b"\0"
    return bytes(table), bytes(texts), 1 + len(local), new_numbers


def _relinked(_section: _Section, places: dict[int, int], new_numbers: dict[int, int], table: int) -> None:
    """Numbers of sections and symbols in a section's header and relocations, made those of the joined cubin."""
    if _section.head[1] in _RELOCATION:
        _section.head[6:8] = [table, places.get(_section.head[7], 0)]
        _section.contents = _relocated(_section.contents, _section.head[1], new_numbers, 0)
    elif _section.name.startswith(".text."):  # the symbol of the kernel in the low bits, beside its registers
        _section.head[6:8] = [table, _section.head[7] & ~0xFFFFFF | new_numbers.get(_section.head[7] & 0xFFFFFF, 0)]
    else:
        _section.head[6:8] = [places.get(number, 0) for number in _section.head[6:8]]


def _relocated(contents: bytes, kind: int, new_numbers: dict[int, int], by: int) -> bytes:
    return b"".join(
        _RELOCATION[kind].pack(offset + by, new_numbers.get(info >> 32, 0) << 32 | info & 0xFFFFFFFF, *addend)
        for offset, info, *addend in _RELOCATION[kind].iter_unpack(contents)
    )


def _lines(parts: Sequence[Sequence[_Section]], new_numbers: Sequence[dict[int, int]]) -> tuple[bytes, bytes, int]:
    """The tables of source lines, joined; the places where they name their code, and the form of each."""
    names = {section.name for sections in parts for section in sections}
    kind = next((kind for kind, name in _LINES_MOVED.items() if name in names), 4)
    tables, relocations = bytearray(), bytearray()
    for sections, own in zip(parts, new_numbers, strict=True):
        relocations += _relocated(_named(sections, _LINES_MOVED[kind]), kind, own, len(tables))
        tables += _named(sections, _LINES)
    return bytes(tables), bytes(relocations), kind


def _written(header: bytes, sections: Sequence[_Section]) -> bytes:
    names = bytearray(1)
    sections = [*sections, _Section(".shstrtab", [0, _STRTAB, 0, 0, 0, 0, 0, 0, 1, 0], b"", 0)]
    for section in sections[1:]:
        section.head[0] = len(names)
        names += section.name.encode(errors="surrogateescape") + b"\0"
    sections[-1].contents = bytes(names)
    whole = bytearray(header)
    for section in sections[1:]:
        whole += bytes(-len(whole) % max(1, section.head[8]))
        section.head[4] = len(whole)
        if section.head[1] != _NOBITS:
            section.head[5] = len(section.contents)
            whole += section.contents
    whole += bytes(-len(whole) % 8)
    struct.pack_into("<QQ", whole, 32, 0, len(whole))
    struct.pack_into("<HHHHHH", whole, 52, _HEADER_B, 0, 0, _SECTION.size, len(sections), len(sections) - 1)
    for section in sections:
        whole += _SECTION.pack(*section.head)
    return bytes(whole)
