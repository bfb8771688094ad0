"""The event loop of `warp_simulation`: plain functions over one array of integers, which Numba can compile.

There are two kinds of events: a scheduler's turn, at a whole cycle; and events of the queue: a transaction reaches
memory, a warp ends, a block starts. At equal times the queue comes first; then the schedulers, beginning after the
scheduler that last used a shared pipe. A queue entry is (time, order, 4 x (step x slots + slot) + kind).
"""

import heapq
from typing import Any

from warpbound.simulate.warp_memory import enqueue, log_event, pass_time, serve, whole

# isort: off
from warpbound.simulate.warp_state import (
    AHEAD, ALIVE, AREA, ARRIVED, AT_BARRIER, BLAMES, BLOCK_INTERVAL, BLOCK_START, BLOCKS, BUSY, CHARGED, COST, EMPTY,
    END_WAIT, ENDED, ENDING, FIRST, FIRST_WAIT, FLOW, FREE, FREE_AT, FREES, GREEDY_THEN_YOUNGEST, HELD, HORIZON, ISSUED,
    ISSUED_AT, LATENCY, LATEST, LAUNCH, LENGTH, LIFE, LINES, LIVE, MEETS, MET, NEVER, NEXT_BLOCK, NEXT_START, NOW,
    OFFSET, OLDEST, OWNER, PAIRS, PATH, PIPE, PIPES, PLACE, PLACES, POLICY, PORT, POSITION, READ, READY, REASONS,
    REPEATS, RESIDENT, ROOM, ROUND_ROBIN, RUNNING, SCHEDULER, SCHEDULERS, SHARED, SIZE, SLOT, SLOTS, SLOTS_USED, STALL,
    STARTED, STATUS, STEP, STEPS, STREAM, STREAMS, TAIL, THROTTLE, THROTTLED, TICK, TOKEN, TOKENS, TOKENS_EACH, TURN,
    TURNS, UNITS, UNTIL, VARIANTS, WAITS, WAKE, WARM, WARP, WARPS, WHOSE, WHY, WIDTH, WRITES, Column, Happening, Reason,
)  # fmt: skip
# isort: on

REACHES_MEMORY, WARP_ENDS, BLOCK_STARTS = 0, 1, 2  # kinds of queue entries
SELECTED, NOT_SELECTED, WAIT = int(Reason.SELECTED), int(Reason.NOT_SELECTED), int(Reason.WAIT)
BARRIER, DRAIN = int(Reason.BARRIER), int(Reason.DRAIN)
ISSUE, ARRIVE = int(Happening.ISSUE), int(Happening.ARRIVE)
RELEASE, START, END = int(Happening.RELEASE), int(Happening.START), int(Happening.END)


def play(m: Column) -> None:
    """Run all blocks to their end, or to the horizon; the results are in the array."""
    queue = [(0, 0, 0)]
    queue.pop()
    room = [0]
    room.pop()
    for _ in range(m[ROOM]):
        room.append(0)
    for place in range(m[RESIDENT]):
        if m[BLOCK_INTERVAL] > 0:
            start_later(m, queue, place, 0)
        else:
            begin_block(m, place, 0)
    while True:
        scheduler = soonest_scheduler(m)
        time = m[m[SCHEDULERS] + scheduler * SCHEDULER + WAKE]
        queued = len(queue) > 0 and queue[0][0] <= time
        if queued:
            time = queue[0][0]
        if time >= m[HORIZON]:
            break
        m[NOW] = time
        if queued:
            process_event(m, queue, room)
        else:
            take_turn(m, queue, room, scheduler)
    if m[LIVE] > 0 and m[HORIZON] < NEVER - 1:
        m[NOW] = m[HORIZON]
        pass_time(m, m[HORIZON])


def soonest_scheduler(m: Column) -> int:
    count, wake = m[SIZE], m[SCHEDULERS] + WAKE
    best = other = m[TURN]
    for _ in range(1, count):
        other = other + 1 if other + 1 < count else 0
        if m[wake + other * SCHEDULER] < m[wake + best * SCHEDULER]:
            best = other
    return int(best)


def begin_block(m: Column, place: int, time: int) -> None:
    """Start the next block of the launch, if there is one, in the slots of that place."""
    block, size, at = m[NEXT_BLOCK], m[WARPS], m[PLACES] + place * PLACE
    if block >= m[BLOCKS]:
        return
    m[NEXT_BLOCK] += 1
    pass_time(m, time)
    m[LIVE] += size
    m[at + ALIVE] = size
    m[at + ARRIVED] = 0
    m[at + MET] = 0
    for index in range(size):
        slot, start = place * size + index, time
        if block < m[RESIDENT]:
            start += m[m[LAUNCH] + m[VARIANTS] * size + slot]
        m[AREA] -= start - time
        stream = m[m[LAUNCH] + block % m[VARIANTS] * size + index]
        begin_warp(m, slot, block * size + index, stream, start)


def begin_warp(m: Column, slot: int, warp: int, stream: int, start: int) -> None:
    at, tokens = m[SLOTS] + slot * SLOT, m[TOKENS] + slot * m[TOKENS_EACH] * TOKEN
    for field in range(SLOT):
        m[at + field] = 0
    m[at + STREAM] = stream
    m[at + WARP] = warp
    m[at + OWNER] = slot % m[SIZE]
    m[at + STEP] = m[m[PATH] + m[m[STREAMS] + stream * FLOW + FIRST]]
    m[at + STATUS] = RUNNING
    m[at + ISSUED_AT] = start
    m[at + FREE_AT] = start
    m[at + READY] = whole(start)
    m[at + WHY] = WAIT
    m[at + HELD] = NOT_SELECTED
    m[m[LIFE] + 2 * warp + STARTED] = start
    for token in range(m[TOKENS_EACH]):
        m[tokens + token * TOKEN + UNTIL] = 0
    log_event(m, start, slot, START, start)
    wake_scheduler(m, slot)


def wake_scheduler(m: Column, slot: int) -> None:
    """Wake the warp's scheduler in time for the warp's ready time."""
    at = m[SLOTS] + slot * SLOT
    own = m[SCHEDULERS] + m[at + OWNER] * SCHEDULER
    time = max(m[at + READY], m[own + PORT])
    if time < m[own + WAKE]:
        m[own + WAKE] = time


def take_turn(m: Column, queue: Any, room: Any, scheduler: int) -> None:
    """The scheduler issues an instruction or a pair, or determines the time of its next turn."""
    own = m[SCHEDULERS] + scheduler * SCHEDULER
    time, best, best_key, able, again = m[own + WAKE], -1, 0, 0, NEVER
    for slot in range(scheduler, m[SLOTS_USED], m[SIZE]):
        at = m[SLOTS] + slot * SLOT
        free = m[at + READY]
        if free <= time:
            free = pipe_free(m, slot)
            if free <= time:
                key = preference(m, slot, m[own + LATEST])
                able += 1
                if best < 0 or key < best_key:
                    best, best_key = slot, key
                continue
            since = max(time, m[at + CHARGED])
            if free > since:
                m[at + THROTTLED] += free - since
                m[at + CHARGED] = free
        again = min(again, free)
    if best < 0:
        m[own + WAKE] = again
        return
    m[own + WAKE] = again if able == 1 else time  # the issue may wake other warps
    at, port, going = m[SLOTS] + best * SLOT, 0, True
    while going:
        step = m[STEPS] + m[at + STEP] * WIDTH
        port = max(port, m[step + COST])
        issue(m, queue, room, best, time)
        going = m[step + PAIRS] == 1 and m[at + STATUS] == RUNNING
        going = going and m[at + READY] <= time and pipe_free(m, best) <= time
    m[own + LATEST] = best
    m[own + PORT] = time + port
    m[own + WAKE] = max(m[own + WAKE], time + port)


def pipe_free(m: Column, slot: int) -> int:
    """First cycle at which the pipe accepts the warp's next instruction; 0 without a pipe."""
    at = m[SLOTS] + slot * SLOT
    pipe = m[m[STEPS] + m[at + STEP] * WIDTH + PIPE]
    if pipe < 0:
        return 0
    unit = m[PIPES] + pipe * UNITS
    own = 0 if m[unit + SHARED] == 1 else m[at + OWNER]
    return whole(m[m[FREE] + pipe * m[SIZE] + own] - m[unit + AHEAD])


def preference(m: Column, slot: int, latest: int) -> int:
    """Priority of a ready warp; the smallest issues."""
    policy, age = m[POLICY], m[m[SLOTS] + slot * SLOT + WARP]
    if policy == ROUND_ROBIN:
        return int(slot - latest - 1 if slot > latest else slot - latest - 1 + m[SLOTS_USED] + m[SIZE])
    if policy == OLDEST:
        return int(age)
    if slot == latest:
        return -NEVER
    return int(-age) if policy == GREEDY_THEN_YOUNGEST else int(age)


def issue(m: Column, queue: Any, room: Any, slot: int, time: int) -> None:
    """Issue the warp's next instruction and advance the warp."""
    at = m[SLOTS] + slot * SLOT
    number = m[at + STEP]
    step = m[STEPS] + number * WIDTH
    log_event(m, time, slot, ISSUE, m[at + READY])
    account(m, slot, time)
    if time >= m[WARM]:
        m[m[ISSUED] + number] += 1
    begin, pipe = time, m[step + PIPE]
    if pipe >= 0:
        shared = m[m[PIPES] + pipe * UNITS + SHARED] == 1
        place = m[FREE] + pipe * m[SIZE] + (0 if shared else m[at + OWNER])
        begin = max(time, m[place])
        m[place] = begin + m[step + BUSY]
        if shared:
            m[TURN] = (m[at + OWNER] + 1) % m[SIZE]
    until = begin + m[step + LATENCY]
    if m[step + LINES] > 0 and m[step + OFFSET] > 0:
        until = NEVER
        enqueue(m, queue, begin + m[step + OFFSET], 4 * (number * m[SLOTS_USED] + slot) + REACHES_MEMORY)
    elif m[step + LINES] > 0:
        until = serve(m, room, slot, number, begin)
    set_pending(m, slot, m[step + WRITES], until, m[step + BLAMES])
    set_pending(m, slot, m[step + FREES], begin + m[step + READ], m[step + BLAMES])
    advance_warp(m, queue, slot, time)


def set_pending(m: Column, slot: int, token: int, until: int, reason: int) -> None:
    """Keep the token pending until then, or longer if it already is pending for longer."""
    at = m[TOKENS] + (slot * m[TOKENS_EACH] + token) * TOKEN
    if token >= 0 and until > m[at + UNTIL]:
        m[at + UNTIL] = until
        m[at + WHOSE] = reason


def account(m: Column, slot: int, time: int) -> None:
    """Attribute every tick since the last issue to a stall reason."""
    at, reasons = m[SLOTS] + slot * SLOT, m[REASONS]
    last = begin = m[at + ISSUED_AT]
    if m[at + POSITION] > 0 or m[at + TURNS] > 0:
        begin = min(last + TICK, time)
        m[reasons + SELECTED] += begin - last
    free = max(begin, min(m[at + FREE_AT], time))
    m[reasons + m[at + HELD]] += free - begin
    ready = max(free, min(m[at + READY], time))
    m[reasons + m[at + WHY]] += ready - free
    throttled = min(m[at + THROTTLED], time - ready)
    m[reasons + m[m[STEPS] + m[at + STEP] * WIDTH + THROTTLE]] += throttled
    m[reasons + NOT_SELECTED] += time - ready - throttled
    m[at + THROTTLED] = 0
    m[at + ISSUED_AT] = time


def advance_warp(m: Column, queue: Any, slot: int, time: int) -> None:
    """Advance to the next instruction, to a barrier, or to the end."""
    at = m[SLOTS] + slot * SLOT
    step, stream = m[STEPS] + m[at + STEP] * WIDTH, m[STREAMS] + m[at + STREAM] * FLOW
    m[at + FREE_AT] = time + m[step + STALL]
    m[at + HELD] = WAIT
    m[at + POSITION] += 1
    if m[at + POSITION] == m[stream + LENGTH]:
        m[at + POSITION] = 0
        m[at + TURNS] += 1
    if m[at + TURNS] == m[stream + REPEATS]:
        m[at + STATUS] = ENDING
        m[at + FREE_AT] = max(m[at + FREE_AT], time + m[step + TAIL])
        m[at + READY] = NEVER
        end_warp(m, queue, slot)
        return
    m[at + STEP] = m[m[PATH] + m[stream + FIRST] + m[at + POSITION]]
    if m[step + MEETS] == 0:
        set_ready_time(m, slot)
        return
    place = m[PLACES] + slot // m[WARPS] * PLACE
    m[at + STATUS] = AT_BARRIER
    m[at + READY] = NEVER
    m[place + ARRIVED] += 1
    m[place + MET] = max(m[place + MET], time + m[step + LATENCY])
    log_event(m, time, slot, ARRIVE, time + m[step + LATENCY])
    if m[place + ARRIVED] == m[place + ALIVE]:
        release(m, slot // m[WARPS], time)


def set_ready_time(m: Column, slot: int) -> None:
    """Set the time at which the tokens of the next instruction are complete, as far as it is known."""
    at, tokens = m[SLOTS] + slot * SLOT, m[TOKENS] + slot * m[TOKENS_EACH] * TOKEN
    step = m[STEPS] + m[at + STEP] * WIDTH
    ready, reason = m[at + FREE_AT], WAIT
    for place in range(m[step + FIRST_WAIT], m[step + END_WAIT]):
        token = tokens + m[m[WAITS] + place] * TOKEN
        if m[token + UNTIL] > ready:
            ready, reason = m[token + UNTIL], m[token + WHOSE]
    m[at + WHY] = reason
    m[at + READY] = NEVER if ready >= NEVER else whole(ready)
    wake_scheduler(m, slot)


def release(m: Column, place: int, time: int) -> None:
    """Release the block's warps from the barrier, from `time` on."""
    block = m[PLACES] + place * PLACE
    time_of_last = max(m[block + MET], time)
    for slot in range(place * m[WARPS], (place + 1) * m[WARPS]):
        at = m[SLOTS] + slot * SLOT
        if m[at + STATUS] == AT_BARRIER:
            m[at + STATUS] = RUNNING
            m[at + HELD] = BARRIER
            m[at + FREE_AT] = time_of_last
            log_event(m, time_of_last, slot, RELEASE, time_of_last)
            set_ready_time(m, slot)
    m[block + ARRIVED] = 0
    m[block + MET] = 0


def end_warp(m: Column, queue: Any, slot: int) -> None:
    """Enqueue the end of a warp that has issued its last instruction, once its results have a known time."""
    end, tokens = m[m[SLOTS] + slot * SLOT + FREE_AT], m[TOKENS] + slot * m[TOKENS_EACH] * TOKEN
    for token in range(m[TOKENS_EACH]):
        end = max(end, m[tokens + token * TOKEN + UNTIL])
    if end < NEVER:
        enqueue(m, queue, end, 4 * slot + WARP_ENDS)


def process_event(m: Column, queue: Any, room: Any) -> None:
    """Process the first event of the queue."""
    time, _, entry = heapq.heappop(queue)
    kind, where = entry % 4, entry // 4
    if kind == BLOCK_STARTS:
        begin_block(m, where, time)
    elif kind == WARP_ENDS:
        retire_warp(m, queue, where, time)
    else:
        slot, step = where % m[SLOTS_USED], where // m[SLOTS_USED]
        at, token = m[SLOTS] + slot * SLOT, m[m[STEPS] + step * WIDTH + WRITES]
        back = serve(m, room, slot, step, time)
        if token < 0:
            return
        m[m[TOKENS] + (slot * m[TOKENS_EACH] + token) * TOKEN + UNTIL] = back
        if m[at + STATUS] == ENDING:
            end_warp(m, queue, slot)
        elif m[at + STATUS] == RUNNING and m[at + READY] == NEVER:
            set_ready_time(m, slot)


def retire_warp(m: Column, queue: Any, slot: int, time: int) -> None:
    """End a warp, and its block with the last warp."""
    at, place = m[SLOTS] + slot * SLOT, slot // m[WARPS]
    block, last = m[PLACES] + place * PLACE, m[at + ISSUED_AT]
    m[at + STATUS] = EMPTY
    m[m[REASONS] + SELECTED] += min(TICK, time - last)
    m[m[REASONS] + DRAIN] += max(0, time - last - TICK)
    m[m[LIFE] + 2 * m[at + WARP] + ENDED] = time
    pass_time(m, time)
    m[LIVE] -= 1
    m[block + ALIVE] -= 1
    log_event(m, time, slot, END, time)
    if m[block + ALIVE] == 0:
        start_later(m, queue, place, time + m[BLOCK_START])
    elif m[block + ARRIVED] == m[block + ALIVE]:
        release(m, place, time)


def start_later(m: Column, queue: Any, place: int, time: int) -> None:
    """Enqueue the start of a block in a free place; blocks start at least BLOCK_INTERVAL apart."""
    start = max(time, m[NEXT_START])
    m[NEXT_START] = start + m[BLOCK_INTERVAL]
    enqueue(m, queue, start, 4 * place + BLOCK_STARTS)
