"""State of the event loop of warps on one SM: layout of one flat array of integers.

Times are ticks, `TICK` to a cycle, so that rates of memory need not be whole cycles and the order of events never
depends on rounding. Instructions issue at whole cycles.
"""

from enum import IntEnum
from typing import Any

TICK = 1 << 20   # to a cycle
NEVER = 1 << 62
DRAWS = 1024     # entries of a table of quantiles
UNIT = 1 << 16   # one, in such a table
Column = Any     # NDArray[np.int64] where compiled, else list[int]: (all,)


class Reason(IntEnum):
    """State of a resident warp in a cycle, in the terms of Nsight Compute."""

    SELECTED = 0             # it issues
    NOT_SELECTED = 1         # it could issue; another warp does
    WAIT = 2                 # fixed latency: stall counts, results of arithmetic
    LONG_SCOREBOARD = 3      # a result from global or local memory
    SHORT_SCOREBOARD = 4     # a result from shared memory, special functions
    IMC_MISS = 5             # a constant
    BARRIER = 6
    MATH_PIPE_THROTTLE = 7   # its arithmetic pipe is busy
    LG_THROTTLE = 8          # the queue for global memory is full
    MIO_THROTTLE = 9         # the queue for shared memory and special functions is full
    BRANCH_RESOLVING = 10
    DRAIN = 11               # after its last instruction, until its results are there


class Happening(IntEnum):
    """Kinds of rows in the event log."""

    ISSUE = 0
    REQUEST = 1   # a transaction reaches memory; it waits there, is served, and is back at `until`
    ARRIVE = 2    # at a barrier, until `until` at the earliest
    RELEASE = 3   # of a barrier
    START = 4     # of a warp
    END = 5       # of a warp


# The array begins with scalars, some of which are the offsets of tables.
# A field of a table is at (offset) + (record) x (width) + (field).

# Machine and launch; times in ticks
SIZE = 0           # schedulers
POLICY = 1
STATIONS = 2
ROOM = 3           # transactions that may be in memory at once; 0: any number
TOKENS_EACH = 4    # of one warp
WARPS = 5          # of a block
RESIDENT = 6       # blocks
BLOCKS = 7
VARIANTS = 8       # of blocks, in turn
SLOTS_USED = 9     # places for warps
BLOCK_START = 10   # from the end of a block to the start of the one in its place
WARM = 11          # instructions issued before are not counted in ISSUED
HORIZON = 12       # nothing happens after
LOG_ROWS = 13
# Where tables begin that are only read
STEPS = 14
WAITS = 15         # tokens that steps wait for
DEMAND = 16        # of a transaction at each station, (steps x stations)
STREAMS = 17
PATH = 18          # steps of all streams, one stream after the other
LAUNCH = 19        # stream of each warp of a block (variants x warps), then the start of each warp of the first blocks
PIPES = 20
RANDOM = 21        # 1: the station's service varies
TABLES = 22        # quantiles in units of the mean: the random part of latency, then each station's service
# Where tables begin that change
SCHEDULERS = 23
FREE = 24          # when a pipe is free, (pipes x schedulers)
STATION_FREE = 25
SLOTS = 26
TOKENS = 27        # (slots x tokens of one)
PLACES = 28
LIFE = 29          # start and end of each warp of the launch
ISSUED = 30        # times each step has been
REASONS = 31       # ticks, by Reason
LOG = 32
# What is counted
LIVE = 33          # warps
AREA = 34          # warps times ticks
LAST = 35          # when AREA was brought up to date
EVENTS = 36
NEXT_BLOCK = 37
ORDER = 38         # of what is enqueued
SEED = 39
LOGGED = 40
MEMORY_AREA = 41   # transactions times ticks
REQUESTS = 42      # transactions
TURN = 43          # the scheduler that looks first
NOW = 44
MEMORY_WAIT = 45   # ticks that transactions waited
NEXT_START = 46    # before which no block starts
BLOCK_INTERVAL = 47  # least ticks between the starts of two blocks
ORDERED = 48       # begin of a table: the quantiles in the order in which they are drawn
DRAWN = 49         # begin of a table: for each table of quantiles how many have been drawn, and where in that order
HEAD = 50

# A row of LOG: time, kind, warp slot, warp, step, until, reason
LOG_WIDTH = 7
# A row of SCHEDULERS: when it looks again, when its port is free, the slot that issued last
WAKE, PORT, LATEST = range(3)
SCHEDULER = 3
# A row of SLOTS, a place for a warp
READY = 0        # when the next instruction may issue, but for its pipe
WHY = 1          # Reason of the cycles from FREE_AT to READY
FREE_AT = 2      # when the stall of the instruction before is over
HELD = 3         # Reason of the cycles before that
ISSUED_AT = 4    # the instruction before
CHARGED = 5      # until when waiting for a pipe has been counted
THROTTLED = 6    # of it, since the last issue
STATUS = 7       # one of the four below
POSITION = 8     # in the stream
TURNS = 9        # of the stream, completed
STREAM = 10
STEP = 11        # next to issue
WARP = 12        # number in the launch
OWNER = 13       # its scheduler
SLOT = 14
RUNNING, AT_BARRIER, ENDING, EMPTY = range(4)
# A row of TOKENS: until when it is up (NEVER: not known yet), the Reason of those who wait
UNTIL, WHOSE = range(2)
TOKEN = 2
# A row of PLACES, a place for a block: warps that have not ended, those at the barrier, when the last of them was there
ALIVE, ARRIVED, MET = range(3)
PLACE = 3
# A row of LIFE
STARTED, ENDED = range(2)
# A row of STEPS, a kind of instruction; times in ticks
COST = 0         # the scheduler's port is taken
STALL = 1        # until the same warp may issue again
PIPE = 2         # -1: none
BUSY = 3         # the pipe is taken
LATENCY = 4      # from the begin of execution, or of each transaction, to the result
OFFSET = 5       # from issue to the memory
LINES = 6        # transactions; 0: no access to memory
SPREAD = 7       # mean of the random part of a transaction's latency
READ = 8         # until its sources may be overwritten
WRITES = 9       # token that is up until the result is there; -1: none
FREES = 10       # token that is up until the sources are read; -1: none
MEETS = 11       # 1: a barrier, where it waits for the other warps of the block
PAIRS = 12       # 1: the next instruction may issue in the same cycle
TAIL = 13        # where it is the last one: until the warp ends
BLAMES = 14      # Reason of those who wait for its result
THROTTLE = 15    # Reason of those who find its pipe busy
FIRST_WAIT = 16  # of its tokens in WAITS, and the end
END_WAIT = 17
WIDTH = 18
# A row of STREAMS
FIRST, LENGTH, REPEATS = range(3)
FLOW = 3
# A row of PIPES: 1 for one of the SM, 0 for one of each scheduler; how long before it is free an instruction may issue
SHARED, AHEAD = range(2)
UNITS = 2

ROUND_ROBIN, GREEDY_THEN_OLDEST, GREEDY_THEN_YOUNGEST, OLDEST = range(4)
POLICIES = {
    "round_robin": ROUND_ROBIN,
    "greedy_then_oldest": GREEDY_THEN_OLDEST,
    "greedy_then_youngest": GREEDY_THEN_YOUNGEST,
    "oldest": OLDEST,
}
