"""From trace to traffic: coalescing, banks, caches, and extrapolation from the sample to the launch.

    moved = traffic.traffic(program, trace, hierarchy.facts(gpu, blocks_per_sm, shared_per_sm), traffic.How("cold"))
"""
