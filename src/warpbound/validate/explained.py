"""Why the headline misses the launches that it misses most, and what measurement would settle it."""

UNEXPLAINED = "Not explained yet."
SHARED_128 = (
    "A load of four words that are the same for all lanes counts two cycles of shared memory. If it takes four, "
    "handing over 128 bytes a cycle, the times of the A100 fit. `shared_patterns` of `warpbound measure` would settle "
    "it, and the clock during the run."
)
POWER = (
    "The FMA pipe is busy most of the time; boards of 250 and 300 W do not hold the boost clock then (the vendor's "
    "library reaches 72 % of the A100's peak in the same table, 60 % of the A6000's). The clock during the run would "
    "settle it."
)
BIG_BLOCKS = (
    "Blocks of 512 and 1024 threads take longer to be replaced than said, by a fifth of a microsecond. More than half "
    "of that the package's event simulator finds, too. For the rest: a block writes to two fresh pages of 2 MiB, and "
    "latency and block start of this board are a relative's. `pointer_chase` over many pages, `loaded_latency` and "
    "`launch` of `warpbound measure` would tell them apart."
)
DIRTY = (
    "Before each launch L2 was overwritten, so that 40 MB of changed lines are in it, which this launch pushes out: "
    "DRAM needs some 10 us for half of them, which is what is missing. An L2 that is empty is predicted. DRAM's "
    "counters of written bytes would show it."
)
SMALL_ELSEWHERE = (
    "Small blocks: what starting and ending a block costs, its stores' way out, and the tail of latencies are those of "
    "other boards. `stream` of `warpbound measure` on this board would give them."
)
SHARED_ATOMICS = (
    "How often lanes of a warp want one bank is counted in a few sampled blocks; the clock during the run is not known."
)
BEST_READ = (
    "This board reads 3.23 TB/s here, more than the 3.18 that the best of other sources gave. A sweep of read kernels "
    "would give its best rate."
)
TREES = (
    "A tree with a barrier for each step is predicted up to a quarter too fast here, and within 3 % on an H100. Where "
    "one warp alone takes the last six steps, 161 us are saved: 171 cycles a step and block, if blocks have 256 "
    "threads; the prediction has 76, the package's event simulator 113. Launch gap, drain and rounds of blocks are too "
    "small to be it: 1.7 us and 1 of 266 rounds. What a barrier itself takes with 48 warps on an SM, and times of each "
    "block size, of which the table has one, would settle it."
)
EXPLAINED = {  # corpus, kernel -> why the headline misses it, and what would settle it
    ("caches", "reread"): "Data that exceed L1 are read at a rate between that of L1 and of L2, as long as older warps "
    "keep what they hold. The V100 loses 7 % of data of just L1's size, by its counters; how long a lead lasts is "
    "chance: an A40 and an L40, whose caches are alike, differ by two thirds at 192 kB. Counters of L1 in single runs "
    "would show it.",
    ("l2-reads", "pieces"): "Around L2's size, how much of the data is still found depends on how far blocks drift "
    "apart. On the L40, whose L2 has one side, the prediction finds none beyond it; the H100 PCIe keeps what an L2 7 % "
    "larger would, but only where its blocks read 512 KiB each. DRAM counters at the edge, for several sizes of "
    "pieces, would tell.",
    ("l2-shared", "reread"): "Data just more than one side of L2 holds: the prediction finds none of them, but SMs do "
    "not keep step, and what some ask for late others find in the next round. DRAM's counters see a quarter of the "
    "lines on the H100 and nine tenths on the A100. How far SMs are apart would show it.",
    ("launches", "scale"): "Two buffers of 22 to 29 MB together: nearly all is still found in the 40 MB of L2, yet "
    "launches take longer than L2 needs for it. Every line is dirty there; if L2 writes some back early, DRAM works "
    "although nothing misses. DRAM counters of a copy between 16 and 32 MB would show it.",
    ("strides", "stride_double"): "Tag look-ups are counted by a rule that was found on the counters of these strides; "
    "it misses a few of them by a tenth. The same counter over the starting offsets of one stride would show which "
    "lanes share a look-up.",
    ("strides", "stride_float"): "The rule for tag look-ups, in single words: a tenth too few of them at stride 3, too "
    "many at 54. The counter over the starting offsets of one stride would show which lanes share a look-up.",
    ("strides", "block_float"): "Lanes of one warp in up to 32 rows: the rule for tag look-ups is off by 0.2 or 0.3 of "
    "3 to 5 of them per load. The counter over the distance of the rows would show which rows share one.",
    ("strides", "block_double"): "In 16 rows of two double words: 5.0 tag look-ups per load by the rule, 5.4 by the "
    "counter. That counter over the distance of the rows would show which rows share one.",
    ("chains", "stream"): "Waiting at device memory was fitted on HBM2; this board's waits less at the same load, and "
    "its capacity is limited to what its pins carry. A loaded-latency curve would give both.",
    ("streams", "stencil5"): "The lines that a stencil's neighbouring loads wait for are spread evenly over its loads; "
    "its own lines are fewer but arrive in one burst. A sweep of loads per line would settle it.",
    ("streams", "stencil3"): "As for five points.",
    ("intensities", "mixed"): "Which of the two banks a register is in is the compiler's choice: with 32 to 56 "
    "multiply-adds the GH200 took two cycles for each, from 64 on one and a half, as the code that is read here does "
    "throughout. On the A100 DRAM and multiply-adds need about as long, and warps that are in step wait for loads "
    "together. The machine code that was measured would settle the first, timestamps of each round the second.",
    ("counts-of-zeros", "in_shared"): SHARED_ATOMICS,
    ("products", "by_column"): "Every lane's word is in a line of its own, so a load takes L1 32 cycles. The published "
    "rate is a little higher than the nominal boost clock allows. The clock during the run would tell.",
    ("products", "by_row"): "Two loads and some address arithmetic for one multiply-add: an instruction more in the "
    "code that was measured is a tenth of the time. Its machine code and clock would settle it.",
    ("products", "tiled"): SHARED_128,
    ("products", "strips"): SHARED_128 + " The code for sm_75 that stands in on the V100 has 70 registers a thread, "
    "which would leave room for one block; three are taken, as code for sm_80 would have. Machine code for sm_70 would "
    "settle how many they are.",
    ("products", "squares"): POWER,
    ("products", "turned"): POWER,
    ("products", "fours"): POWER,
    ("transposes", "plain"): "Each lane writes 4 bytes of another sector, and a piece leaves an SM in four cycles, as "
    "published for another board; here it takes 4.4, or the clock was a tenth lower than assumed. `global_patterns` of "
    "`warpbound measure` would give the rate, and the clock during the run the rest.",
    ("transposes", "tiled"): "32 conflicts a load: shared memory alone is busy for 4 to 5 ms, and the same kernel "
    "without conflicts takes 5.1 ms; measured is nearly the sum. Loads before the barrier and conflicts behind it are "
    "predicted one after the other; two blocks on an SM then hide a part of both. The package's own event simulator "
    "takes 7.3 ms, where blocks that start together stay in step; the rest may be address translation, as for blocks "
    "of that size without conflicts. Timestamps of when blocks pass the barrier would show how far they are in step.",
    ("transposes", "padded"): BIG_BLOCKS,
    ("transposes", "coarse"): BIG_BLOCKS,
    ("transposes", "twos"): BIG_BLOCKS,
    ("transposes", "fours"): "DRAM's best rate with as many writes as reads is a relative's. A copy would give it.",
    ("transposes-elsewhere", "spread_loads"): "DRAM's best rate with as many writes as reads is a relative's, which "
    "has GDDR6; this board has GDDR6X. A copy would give it.",
    ("histograms", "in_global"): "All 256 counters lie on eight lines, so that eight slices of L2 at most do all the "
    "work. How fast one line is updated is taken from boards of 7.5 and 8.6: 2.7 ns for a sector, where all four of a "
    "line are updated. Here a sector takes 3.2 ns of its line's time, if no two lines share a slice, in cycles of the "
    "boost clock half as many again. At which clock L2 ran is not said, nor what it costs that an H100 has two sides "
    "of it. Updates of one, two, four and more lines on this board would tell.",
    ("histograms", "in_shared"): SHARED_ATOMICS,
    ("histograms", "sixteen_at_once"): SHARED_ATOMICS,
    ("reductions", "word_each"): "One word a thread, nine barriers and one addition to the same line for each of two "
    "million blocks: what starting and ending a block costs is a relative's. `stream` and `launch` of `warpbound "
    "measure` on this board would give it.",
    ("reductions", "batch_each"): BEST_READ,
    ("reductions", "batch_shuffled"): BEST_READ,
    ("reductions", "fours_each"): BEST_READ,
    ("reductions", "fours_shuffled"): BEST_READ,
    ("reductions-elsewhere", "divergent"): TREES,
    ("reductions-elsewhere", "strided"): TREES,
    ("reductions-elsewhere", "in_halves"): TREES,
    ("reductions-elsewhere", "last_by_warp"): TREES,
    ("reductions-elsewhere", "added_loading"): TREES,
    ("reductions-elsewhere", "both"): TREES,
    ("norms", "kept_twice"): DIRTY,
    ("norms", "kept_once"): DIRTY,
    ("norms", "by_warp"): "The RTX A4000's figure is of an earlier state of that kernel; its clock is not known. It is "
    "68 % of what the pins carry, where the RTX 3090 reaches 74 % with this kernel. The package's event simulator "
    "misses it as far (-22 %), so it is not how waiting is added up; the launch gap is 1 % of it. The clock, and the "
    "best rate of that board's memory, would settle it.",
    ("launches-elsewhere", "scale"): "Two buffers about as large as L2: the L40 begins to lose lines at nine tenths of "
    "it, earlier than the A40, and one rule serves both. DRAM counters over the size, with the buffers swapped from "
    "launch to launch and without, would show what goes first.",
    ("launches-2d", "scale"): "Rows that begin in the middle of a sector, in blocks of four columns: a sector that an "
    "instruction writes in part takes this L2 as long as a read and a write, and none is counted as such. The smallest "
    "of these launches are too slow, as the gap between launches of a graph is taken for that of a queue. L2's counter "
    "of sectors written in part, and the gap of a graph on this board, would settle it.",
    ("streams-elsewhere", "scale"): SMALL_ELSEWHERE,
    ("streams-elsewhere", "triad"): SMALL_ELSEWHERE,
    ("streams-elsewhere", "init"): SMALL_ELSEWHERE,
    ("streams-elsewhere", "read"): SMALL_ELSEWHERE,
    ("streams-elsewhere", "stencil3"): SMALL_ELSEWHERE,
    ("streams-elsewhere", "stencil5"): SMALL_ELSEWHERE,
    ("streams", "triad"): "Small blocks: with two or three warps a block, the fixed cost of replacing a block counts "
    "most, and it was fitted to kernels with one load at most.",
}
