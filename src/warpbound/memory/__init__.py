"""Trace to traffic: coalescing, banks, caches, and what a sample says of the whole launch.

    moved = traffic.traffic(program, trace, hierarchy.facts(gpu, blocks_per_sm, shared_per_sm), traffic.How("cold"))
"""
