"""Figures: pure functions make a `Picture` of plain data; `figure` and `spec` turn it into Plotly's terms."""

from warpbound.report.figures.accesses import bank_map, sector_map
from warpbound.report.figures.camping import (
    blocks_at_partitions,
    camping_band,
    in_order,
    partition_map,
    partition_maps,
    partition_shares,
    queue_at_partitions,
    sampled_at_partitions,
)
from warpbound.report.figures.drawing import figure, spec
from warpbound.report.figures.execution import Edge, Event, edges_of, execution_graph, latency_stack, timeline
from warpbound.report.figures.listing import listing
from warpbound.report.figures.occupancy import Block, occupancy_against_limits
from warpbound.report.figures.parallelism import cycles_over_warps, mwp_and_cwp
from warpbound.report.figures.picture import Panels, Picture
from warpbound.report.figures.records import recorded
from warpbound.report.figures.rooflines import Roofs, Spot, roofline
from warpbound.report.figures.simulated import (
    family,
    latencies,
    lifetimes,
    models_over_reference,
    models_over_simulation,
    needed_warps,
    occupancy_in_time,
    warps_in_time,
)
from warpbound.report.figures.svg import svg
from warpbound.report.figures.theme import DARK, LIGHT
from warpbound.report.figures.throughput import (
    Here,
    latency_against_throughput,
    throughput_against_occupancy,
    warps_needed_against_intensity,
)
from warpbound.report.figures.x_graphs import (
    Machine,
    architectures,
    changed,
    changed_under_load,
    machines_of,
    nine_operations,
    operation,
    x_graph,
)

__all__ = [
    "DARK",
    "LIGHT",
    "Block",
    "Edge",
    "Event",
    "Here",
    "Machine",
    "Panels",
    "Picture",
    "Roofs",
    "Spot",
    "architectures",
    "bank_map",
    "blocks_at_partitions",
    "camping_band",
    "changed",
    "changed_under_load",
    "cycles_over_warps",
    "edges_of",
    "execution_graph",
    "family",
    "figure",
    "in_order",
    "latencies",
    "latency_against_throughput",
    "latency_stack",
    "lifetimes",
    "listing",
    "machines_of",
    "models_over_reference",
    "models_over_simulation",
    "mwp_and_cwp",
    "needed_warps",
    "nine_operations",
    "occupancy_against_limits",
    "occupancy_in_time",
    "operation",
    "partition_map",
    "partition_maps",
    "partition_shares",
    "queue_at_partitions",
    "recorded",
    "roofline",
    "sampled_at_partitions",
    "sector_map",
    "spec",
    "svg",
    "throughput_against_occupancy",
    "timeline",
    "warps_in_time",
    "warps_needed_against_intensity",
    "x_graph",
]
