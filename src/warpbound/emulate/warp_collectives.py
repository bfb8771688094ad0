"""Warp collectives: shuffles, votes, matches, reductions; special registers; moves to uniform registers."""


import numpy as np

from warpbound.emulate.operand_access import (
    FALSE,
    Site,
    constant,
    integer,
    is_predicate,
    predicate,
    raw,
    single,
    unsupported,
    write_predicate,
    write_words,
)
from warpbound.emulate.semantics import Handler, executes
from warpbound.emulate.state import LANES, State, Value, ballots, whole
from warpbound.program.instruction import RZ

_LANE = np.arange(LANES, dtype=np.int64)


def _by_warp(x: State, value: Value) -> Value:
    """Values of the selected lanes, one row per warp."""
    return whole(x, value).reshape(-1, LANES)


@executes("SHFL")
def shuffle(here: Site) -> Handler:
    """SHFL: .IDX, .UP, .DOWN, .BFLY within segments; out of range a lane keeps its own value.

    What comes from a lane that takes no part is undefined (PTX ISA, shfl.sync). Here it is 0, as observed on GPUs
    (apache/tvm, issue 12274) and as `reduce7` of NVIDIA's samples needs it on machines without REDUX.
    """
    source, distance, clamp = (raw(source, here) for source in here.sources[:3])
    write = write_words(here.output)
    out = write_predicate(here.predicates_out[0] if here.predicates_out else None)
    mode = next(m for m in here.instruction.modifiers if m in ("IDX", "UP", "DOWN", "BFLY"))

    def handler(x: State) -> None:
        values, far, clamp_lane = _by_warp(x, source(x)), distance(x), clamp(x)
        if x.mask is not None:
            values = np.where(x.mask.reshape(-1, LANES), values, values.dtype.type(0))
        if not np.ndim(far) and not np.ndim(clamp_lane):
            j, valid = lanes(np.int64(far) & 31, np.int64(clamp_lane))
            write(x, values.take(np.where(valid, j, _LANE) & 31, axis=1).reshape(-1))
            out(x, np.tile(valid, len(values)))
            return
        j, valid = lanes(_by_warp(x, far).astype(np.int64) & 31, _by_warp(x, clamp_lane).astype(np.int64))
        picked = np.take_along_axis(values, np.where(valid, j, _LANE) & 31, axis=1)
        write(x, picked.reshape(-1))
        out(x, np.ascontiguousarray(valid).reshape(-1))

    def lanes(b: Value, c: Value) -> tuple[Value, Value]:
        """The lane that each lane reads, and whether it may."""
        segment = c >> 8 & 31
        most = _LANE & segment | c & 31 & ~segment
        if mode == "UP":
            j = _LANE - b
            valid = j >= most
        elif mode == "DOWN":
            j = _LANE + b
            valid = j <= most
        elif mode == "BFLY":
            j = _LANE ^ b
            valid = j <= most
        else:
            j = _LANE & segment | b & ~segment
            valid = j <= most
        return j, valid

    return handler


@executes("VOTE VOTEU")
def vote(here: Site) -> Handler:
    """VOTE and VOTEU: the ballot of the active lanes, and whether any, all or all the same hold."""
    flags = [operand for operand in here.instruction.operands if is_predicate(operand)]
    condition = predicate(flags[-1], here)
    uniform = here.uniform
    write = write_words(here.output)
    out = write_predicate(flags[0] if len(flags) > 1 else None)
    mode = next((m for m in here.instruction.modifiers if m in ("ANY", "ALL", "EQ")), "ANY")

    def handler(x: State) -> None:
        value = condition(x)
        if uniform and np.ndim(value) and len(value) != x.selected_lanes:
            value = np.repeat(value, LANES)
        active = x.active()
        set_lanes = ballots(active & value)
        all_lanes = ballots(active)
        if mode == "ANY":
            result = set_lanes != 0
        elif mode == "ALL":
            result = set_lanes == all_lanes
        else:
            result = (set_lanes == all_lanes) | (set_lanes == 0)
        write(x, set_lanes if uniform else np.repeat(set_lanes, LANES))
        out(x, result if uniform else np.repeat(result, LANES))

    return handler


@executes("MATCH")
def match(here: Site) -> Handler:
    """MATCH.ANY: the lanes with the same value; .ALL: all of them, or 0 where they differ."""
    wide = here.has("U64")
    source = here.sources[0]
    low = raw(source, here)
    index = source.index
    write = write_words(here.output)
    out = write_predicate(here.predicates_out[0] if here.predicates_out else None)
    everyone = here.has("ALL")

    def handler(x: State) -> None:
        value = x.get_pair(index) if wide and index != RZ else low(x)
        rows = _by_warp(x, value)
        active = x.active().reshape(-1, LANES)
        same = (rows[:, :, None] == rows[:, None, :]) & active[:, None, :]
        words = np.packbits(same, axis=2, bitorder="little").view(np.uint32).reshape(-1)
        if everyone:
            all_lanes = np.repeat(ballots(active.reshape(-1)), LANES)
            agree = words == all_lanes
            warp_agrees = (agree.reshape(-1, LANES) | ~active).all(axis=1)
            agree = np.repeat(warp_agrees, LANES)
            words = np.where(agree, all_lanes, np.uint32(0))
            out(x, agree)
        write(x, words)

    return handler


@executes("ELECT")
def elect(here: Site) -> Handler:
    """ELECT: a predicate that holds in the first active lane of each warp, and that lane's number."""
    flag, number, among = here.instruction.operands[:3]
    members, out, write = predicate(among, here), write_predicate(flag), write_words(number)

    def handler(x: State) -> None:
        rows = (x.active() & members(x)).reshape(-1, LANES)
        first = rows.argmax(axis=1)
        out(x, (rows & (first[:, None] == _LANE)).reshape(-1))
        write(x, first.astype(np.uint32))

    return handler


@executes("REDUX CREDUX")
def reduce(here: Site) -> Handler:
    """REDUX and CREDUX: one value per warp from those of its active lanes, into a uniform register."""
    reader, write = integer(here.sources[0], here), write_words(here.output)
    signed = here.has("S32")
    name = next((m for m in here.instruction.modifiers if m in _REDUCTIONS), "AND")
    function, neutral = _REDUCTIONS[name]
    if here.has("F32"):
        return _reduce_floats(here, name)
    if signed and name in ("MIN", "MAX"):
        neutral = {"MIN": 0x7FFFFFFF, "MAX": 0x80000000}[name]

    def handler(x: State) -> None:
        values = np.where(x.active(), reader(x), np.uint32(neutral)).reshape(-1, LANES)
        if signed:
            values = values.view(np.int32)
        with np.errstate(over="ignore"):
            result = function.reduce(values, axis=1, dtype=values.dtype)
        write(x, result.view(np.uint32))

    return handler


def _reduce_floats(here: Site, name: str) -> Handler:
    """The largest or smallest of 32-bit floats. NaNs are passed over; with .NAN one NaN makes the result NaN."""
    if name not in ("MIN", "MAX"):
        raise unsupported(here.instruction)
    reader, write = single(here.sources[0], here), write_words(here.output)
    plain, strict = {"MIN": (np.fmin, np.minimum), "MAX": (np.fmax, np.maximum)}[name]
    function = strict if here.has("NAN") else plain
    neutral = np.float32("inf" if name == "MIN" else "-inf")

    def handler(x: State) -> None:
        active = x.active().reshape(-1, LANES)
        values = np.broadcast_to(reader(x), active.size).reshape(-1, LANES)
        result = function.reduce(np.where(active, values, neutral if here.has("NAN") else np.float32("nan")), axis=1)
        write(x, np.where(np.isnan(result), np.uint32(0x7FFFFFFF), result.astype(np.float32).view(np.uint32)))

    return handler


_REDUCTIONS: dict[str, tuple[np.ufunc, int]] = {
    "SUM": (np.add, 0), "AND": (np.bitwise_and, 0xFFFFFFFF), "OR": (np.bitwise_or, 0), "XOR": (np.bitwise_xor, 0),
    "MIN": (np.minimum, 0xFFFFFFFF), "MAX": (np.maximum, 0),
}  # fmt: skip


@executes("S2R S2UR CS2R CS2UR")
def read_special(here: Site) -> Handler:
    """S2R, S2UR, CS2R of thread, block and lane numbers, masks and clocks."""
    name = next((operand.text for operand in here.instruction.operands if operand.text.startswith("SR")), "SRZ")
    wide = here.has("64") or (here.instruction.traits.width == "special" and not here.has("32"))
    write = write_words(here.output)
    uniform = here.uniform
    output = here.output

    def put(x: State, value: Value) -> None:
        if uniform and np.ndim(value):
            write(x, x.of_selected(value)[::LANES])
        elif np.ndim(value):
            write(x, x.of_selected(value))
        else:
            write(x, value)
        if wide and output is not None and output.index != RZ:
            upper = np.uint32(x.clock >> 32 & 0xFFFFFFFF) if "CLOCK" in name or "TIMER" in name else np.uint32(0)
            (x.put_uniform if uniform else x.put)(output.index + 1, upper)

    def handler(x: State) -> None:
        if "CLOCK" in name or "TIMER" in name:
            put(x, np.uint32((x.clock >> 32 if name.endswith("HI") else x.clock) & 0xFFFFFFFF))
        elif name in x.special:
            put(x, x.special[name])
        else:
            raise unsupported(here.instruction)

    return handler


@executes("R2UR")
def to_uniform(here: Site) -> Handler:
    """R2UR: the value of the first active lane of each warp; the predicate: in which lanes it is another; .OR: or the
    predicate was true."""
    source = here.sources[0]
    reader, write = integer(source, here), write_words(here.output)
    has_predicate = bool(here.predicates_out)
    per_lane = has_predicate and here.predicates_out[0].kind == "predicate"
    out = write_predicate(here.predicates_out[0] if has_predicate else None)
    before = predicate(here.predicates_out[0], here) if has_predicate else constant(FALSE)

    def handler(x: State) -> None:
        rows = _by_warp(x, reader(x))
        first = x.active().reshape(-1, LANES).argmax(axis=1)
        value = rows[np.arange(len(rows)), first]
        write(x, value)
        if has_predicate:
            differs = (rows != value[:, None]) & x.active().reshape(-1, LANES)
            result = differs.reshape(-1) if per_lane else differs.any(axis=1)
            out(x, result | before(x) if here.has("OR") else result)

    return handler
