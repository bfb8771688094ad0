"""The event loop of `partitions`: plain functions over one array of integers, which Numba can compile.

Times are integers in femtoseconds: the order of events never depends on rounding. Simultaneous events happen in the
order in which they were enqueued. All state is in one array `m`; `Parts` has the offset of each part, so that
`m[at.sm + warp]` is the SM of a warp. (With many arrays, reference counting would cost more than the work.)
"""

from typing import Any, NamedTuple

READY, ARRIVED, REPLIED = 0, 1, 2  # event kinds: a warp continues; a transaction reaches its partition; a reply arrives
ORDER_BITS = 34  # below them 4 x number + kind
MOST_EVENTS = 1 << 29  # that can be enqueued
EVENT = (1 << ORDER_BITS) - 1


class Sizes(NamedTuple):
    """Counts, and the machine's times in femtoseconds."""

    sms: int
    blocks: int
    block_warps: int
    resident: int     # blocks of an SM
    in_flight: int    # most transactions of an SM that are not replied to
    period: int       # of an SM's clock
    port: int         # between two transactions of an SM
    outward: int      # from the SM to a partition
    back: int         # from a partition to the SM
    block_start: int  # between a block's end and the first instruction of the next


class Parts(NamedTuple):
    """Offsets of the parts of the array: the work of the warps, the state, the results.

    Warps of a block follow each other; so do the requests of a warp, and the transactions of a request.
    """

    warp_first: int           # first request of each warp, and the end
    request_first: int        # first transaction of each request, and the end
    request_cycles: int       # SM cycles of arithmetic before it
    request_waits: int        # 1 where the warp waits for the replies
    request_barrier: int      # 1 where the block meets first
    transaction_warp: int
    transaction_request: int
    transaction_home: int     # partition
    transaction_service: int  # at its partition [fs]

    phase: int                # by SM: an edge of its clock
    issue_free: int           # by SM
    port_free: int            # by SM
    sm_in_flight: int         # by SM
    head: int                 # by SM: first warp that waits because too much is in flight, or -1
    tail: int                 # by SM
    behind: int               # by warp: the next one in that queue
    sm: int                   # by warp
    request: int              # by warp: its next one
    pending: int              # by warp: replies awaited
    barrier_passed: int               # by warp: 1 once the barrier before its next request is passed
    warps_running: int                 # by block: warps that have not ended
    warps_at_barrier: int                  # by block: warps at the barrier
    free: int                 # by partition: when it has served what has arrived
    when: int                 # by entry of the queue, a binary heap
    what: int                 # order of insertion and, in the lower ORDER_BITS, the event
    queued: int               # entries of the queue
    event_count: int            # events so far
    next_block: int
    all_in_flight: int
    last: int                 # time of the last event
    area: int                 # transactions in flight, added up over time

    issued: int               # by transaction: the SM took up its request
    sent: int                 # it left the SM
    arrived: int
    started: int
    served: int
    replied: int
    ended: int                # by warp


def play(m: Any, at: Parts, of: Sizes) -> None:
    """Run all blocks to their end."""
    for _ in range(of.resident):
        for sm in range(of.sms):
            begin_block(m, at, of, sm, 0)
    while m[at.queued] > 0:
        time, event = earliest(m, at)
        m[at.area] += m[at.all_in_flight] * (time - m[at.last])
        m[at.last] = time
        kind, number = event & 3, event >> 2
        if kind == READY:
            advance_warp(m, at, of, number, time)
        elif kind == ARRIVED:
            serve(m, at, of, number, time)
        else:
            reply(m, at, of, number, time)


def enqueue(m: Any, at: Parts, time: int, event: int) -> None:
    """Enqueue an event."""
    when, what, place = at.when, at.what, m[at.queued]
    while place > 0 and m[when + (place - 1 >> 1)] > time:
        above = place - 1 >> 1
        m[when + place], m[what + place] = m[when + above], m[what + above]
        place = above
    m[when + place], m[what + place] = time, (m[at.event_count] << ORDER_BITS) + event
    m[at.queued] += 1
    m[at.event_count] += 1


def earliest(m: Any, at: Parts) -> tuple[int, int]:
    """Remove the earliest event, of simultaneous ones the first enqueued: its time and kind."""
    when, what = at.when, at.what
    m[at.queued] -= 1
    last = m[at.queued]
    time, event = m[when], m[what] & EVENT
    time_of_last, key, place, below = m[when + last], m[what + last], 0, 1
    while below < last:
        other = below + 1
        if other < last and (
            m[when + other] < m[when + below]
            or (m[when + other] == m[when + below] and m[what + other] < m[what + below])
        ):
            below = other
        if time_of_last < m[when + below] or (time_of_last == m[when + below] and key < m[what + below]):
            break
        m[when + place], m[what + place] = m[when + below], m[what + below]
        place, below = below, 2 * below + 1
    m[when + place], m[what + place] = time_of_last, key
    return time, event


def begin_block(m: Any, at: Parts, of: Sizes, sm: int, time: int) -> None:
    """Start the next block of the grid, if there is one, on this SM."""
    block = m[at.next_block]
    if block < of.blocks:
        m[at.next_block] += 1
        for warp in range(block * of.block_warps, (block + 1) * of.block_warps):
            m[at.sm + warp] = sm
            enqueue(m, at, time, 4 * warp + READY)


def advance_warp(m: Any, at: Parts, of: Sizes, warp: int, time: int) -> None:
    """Advance a warp to its next request, to a barrier, or to its end."""
    block, sm, request = warp // of.block_warps, m[at.sm + warp], m[at.request + warp]
    if request == m[at.warp_first + warp + 1]:
        m[at.ended + warp] = time
        m[at.warps_running + block] -= 1
        if m[at.warps_running + block] == 0:
            begin_block(m, at, of, sm, time + of.block_start)
    elif m[at.request_barrier + request] == 1 and m[at.barrier_passed + warp] == 0:
        m[at.warps_at_barrier + block] += 1
        if m[at.warps_at_barrier + block] == of.block_warps:
            m[at.warps_at_barrier + block] = 0
            for other in range(block * of.block_warps, (block + 1) * of.block_warps):
                m[at.barrier_passed + other] = 1
                enqueue(m, at, time, 4 * other + READY)
    elif m[at.head + sm] < 0 and has_room(m, at, of, warp):
        issue(m, at, of, warp, time)
    else:
        if m[at.head + sm] < 0:
            m[at.head + sm] = warp
        else:
            m[at.behind + m[at.tail + sm]] = warp
        m[at.tail + sm] = warp
        m[at.behind + warp] = -1


def has_room(m: Any, at: Parts, of: Sizes, warp: int) -> bool:
    """Whether the SM can have the next request's transactions in flight too; an oversized request is issued alone."""
    request, in_flight = m[at.request + warp], m[at.sm_in_flight + m[at.sm + warp]]
    more = m[at.request_first + request + 1] - m[at.request_first + request]
    return bool(in_flight == 0 or in_flight + more <= of.in_flight)


def issue(m: Any, at: Parts, of: Sizes, warp: int, time: int) -> None:
    """Arithmetic from a clock edge of the SM, then the transactions in sequence."""
    sm, request = m[at.sm + warp], m[at.request + warp]
    begin, edge = max(time, m[at.issue_free + sm]), m[at.phase + sm]
    begin = edge - (edge - begin) // of.period * of.period
    end = begin + m[at.request_cycles + request] * of.period
    port = max(end, m[at.port_free + sm])
    first, last = m[at.request_first + request], m[at.request_first + request + 1]
    for number in range(first, last):
        m[at.issued + number], m[at.sent + number] = time, port
        enqueue(m, at, port + of.outward, 4 * number + ARRIVED)
        port += of.port
    m[at.issue_free + sm], m[at.port_free + sm] = end, port
    m[at.sm_in_flight + sm] += last - first
    m[at.all_in_flight] += last - first
    m[at.request + warp], m[at.barrier_passed + warp] = request + 1, 0
    if first == last:
        enqueue(m, at, end, 4 * warp + READY)
    elif m[at.request_waits + request] == 1:
        m[at.pending + warp] = last - first
    else:
        enqueue(m, at, port, 4 * warp + READY)


def serve(m: Any, at: Parts, of: Sizes, number: int, time: int) -> None:
    """Enqueue a transaction at its partition."""
    home = m[at.transaction_home + number]
    start = max(time, m[at.free + home])
    end = start + m[at.transaction_service + number]
    m[at.free + home] = end
    m[at.arrived + number], m[at.started + number], m[at.served + number] = time, start, end
    enqueue(m, at, end + of.back, 4 * number + REPLIED)


def reply(m: Any, at: Parts, of: Sizes, number: int, time: int) -> None:
    """Process a reply: its warp may continue, and waiting warps of the SM may issue."""
    warp = m[at.transaction_warp + number]
    sm = m[at.sm + warp]
    m[at.replied + number] = time
    m[at.sm_in_flight + sm] -= 1
    m[at.all_in_flight] -= 1
    if m[at.request_waits + m[at.transaction_request + number]] == 1:
        m[at.pending + warp] -= 1
        if m[at.pending + warp] == 0:
            enqueue(m, at, time, 4 * warp + READY)
    while m[at.head + sm] >= 0 and has_room(m, at, of, m[at.head + sm]):
        following = m[at.head + sm]
        m[at.head + sm] = m[at.behind + following]
        issue(m, at, of, following, time)
