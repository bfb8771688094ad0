"""Time, event log and memory of the event loop of warps."""

import heapq
from typing import Any

# isort: off
from warpbound.simulate.warp_state import (
    AREA, DEMAND, DRAWN, DRAWS, EVENTS, FREE_AT, HELD, LAST, LATENCY, LINES, LIVE, LOG, LOG_ROWS, LOG_WIDTH, LOGGED,
    MEMORY_AREA, MEMORY_WAIT, ORDER, ORDERED, RANDOM, READY, REQUESTS, ROOM, SEED, SLOT, SLOTS, SPREAD, STATION_FREE,
    STATIONS, STEP, STEPS, TABLES, TICK, UNIT, WARP, WHY, WIDTH, Column, Happening,
)  # fmt: skip
# isort: on

MODULUS, MULTIPLIER = 2147483647, 48271  # Park and Miller's generator, CACM 31(10), 1988, and 36(7), 1993
REQUEST = int(Happening.REQUEST)


def whole(time: int) -> int:
    """The time rounded up to a whole cycle."""
    return (time + TICK - 1) & -TICK


def pass_time(m: Column, time: int) -> None:
    """Add resident warps times the ticks since the last event."""
    m[AREA] += m[LIVE] * (time - m[LAST])
    m[LAST] = time


def enqueue(m: Column, queue: Any, time: int, entry: int) -> None:
    heapq.heappush(queue, (time, m[ORDER], entry))
    m[ORDER] += 1


def log_event(m: Column, time: int, slot: int, kind: int, until: int) -> None:
    """Write a row of the log while there is space."""
    m[EVENTS] += 1
    if m[LOGGED] < m[LOG_ROWS]:
        row, at = m[LOG] + m[LOGGED] * LOG_WIDTH, m[SLOTS] + slot * SLOT
        m[row] = time
        m[row + 1] = kind
        m[row + 2] = slot
        m[row + 3] = m[at + WARP]
        m[row + 4] = m[at + STEP]
        m[row + 5] = until
        m[row + 6] = m[at + WHY] if m[at + READY] > m[at + FREE_AT] else m[at + HELD]
        m[LOGGED] += 1


def serve(m: Column, room: Any, slot: int, number: int, time: int) -> int:
    """Time at which the last transaction of an instruction returns: each passes the stations in turn, then takes its
    latency."""
    step, end = m[STEPS] + number * WIDTH, time
    for _ in range(m[step + LINES]):
        begin = time
        if m[ROOM] > 0:
            begin = max(begin, room[0])
        for station in range(m[STATIONS]):
            service = m[m[DEMAND] + number * m[STATIONS] + station]
            if service > 0:
                begin = max(begin, m[m[STATION_FREE] + station])
                if m[m[RANDOM] + station] == 1:
                    service = service * draw(m, station + 1) // UNIT
                m[m[STATION_FREE] + station] = begin + service
        back = begin + m[step + LATENCY]
        if m[step + SPREAD] > 0:
            back += m[step + SPREAD] * draw(m, 0) // UNIT
        if m[ROOM] > 0:
            heapq.heapreplace(room, back)
        end = max(end, back)
        m[MEMORY_AREA] += back - time
        m[MEMORY_WAIT] += begin - time
        m[REQUESTS] += 1
        log_event(m, time, slot, REQUEST, back)
    return int(end)


def draw(m: Column, table: int) -> int:
    """The next quantile of a table: each occurs once in DRAWS draws, in a random order from a random start."""
    at = m[DRAWN] + 2 * table
    if m[at] % DRAWS == 0:
        m[SEED] = m[SEED] * MULTIPLIER % MODULUS
        m[at + 1] = m[SEED] * DRAWS // MODULUS
    place = (m[at] + m[at + 1]) % DRAWS
    m[at] += 1
    return int(m[m[TABLES] + table * DRAWS + m[m[ORDERED] + place]])
