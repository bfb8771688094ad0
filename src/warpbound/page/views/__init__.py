"""The views: the numbers that each can set, and the figure that it draws from a subject and these numbers.

Every figure and every number comes from the functions that the report and Python callers use.
"""

from dataclasses import replace

import numpy as np

from warpbound.page.subject import Subject
from warpbound.page.views.camping import camping, camping_controls
from warpbound.page.views.enough_threads import threads_controls, threads_needed
from warpbound.page.views.family import (
    envelopes,
    family_controls,
    load,
    load_over_warps,
    models_compared,
    simulated_occupancy,
    simulated_sm,
    simulator_controls,
)
from warpbound.page.views.kernels import occupancy_controls, occupancy_view, sass, timeline, verdict
from warpbound.page.views.latency_hiding import cusp, hiding_controls, latency_hiding_view
from warpbound.page.views.mwp_and_cwp import mwp, mwp_controls, time_over_warps
from warpbound.page.views.partition_maps import partition_controls, partition_maps
from warpbound.page.views.roofline import roofline, roofline_controls
from warpbound.page.views.view import BOARD, LIMITS, PARTITIONS, REFUSED, RUN, Values, View, ViewOutput, sentence
from warpbound.page.views.x_graph import operations, x_controls, x_graph
from warpbound.report.figures.picture import Drawable

__all__ = ["REFUSED", "VIEWS", "View", "ViewOutput", "draw_view", "second_picture", "sentence"]

CAMPING = "Camping in the memory partitions of an old board"
FAMILY = "One access and alpha additions that wait for each other, on this GPU"
TRANSPOSE = "A transpose in tiles of 16 x 16 floats"
OF_BOARD = (RUN, BOARD, LIMITS)
VERDICT = ("verdict", "whatifs", "bounds", "stalls", "confidence")
VIEWS: dict[str, View] = {
    "verdict": View("Verdict", verdict, hiding_controls, exact=VERDICT),
    "occupancy": View(
        "Occupancy", occupancy_view, occupancy_controls, exact=("occupancy", "kernel"), sets=(RUN, LIMITS)
    ),
    "hiding": View("Latency hiding", latency_hiding_view, hiding_controls, cusp, ("latency", "loops")),
    "x": View("X-graph", x_graph, x_controls, operations),
    "camping": View("Camping band", camping, camping_controls, sets=(PARTITIONS, RUN), about=CAMPING),
    "mwp": View("MWP/CWP", mwp, mwp_controls, time_over_warps, ("models",)),
    "roofline": View("Roofline", roofline, roofline_controls, exact=("memory", "accesses")),
    "timeline": View("Timeline", timeline, sets=(RUN, BOARD, LIMITS)),
    "models": View("Models compared", models_compared, family_controls, envelopes, sets=OF_BOARD, about=FAMILY),
    "load": View("Latency under load", load, family_controls, load_over_warps, sets=OF_BOARD, about=FAMILY),
    "simulator": View(
        "Simulated SM", simulated_sm, simulator_controls, simulated_occupancy, sets=OF_BOARD, about=FAMILY
    ),
    "partitions": View("Partition maps", partition_maps, partition_controls, sets=(), about=TRANSPOSE),
    "threads": View("Threads needed", threads_needed, threads_controls, exact=("loops",)),
    "sass": View("SASS", sass, sets=(RUN, BOARD, LIMITS)),
}


@np.errstate(all="ignore")
def draw_view(view: str, subject: Subject, values: Values) -> ViewOutput:
    """The output of a view; a sentence where the view does not apply to the subject."""
    try:
        output = VIEWS[view].draw(subject, values)
    except REFUSED as error:
        return ViewOutput(words=(sentence(error),))
    return replace(output, words=(*output.words, *subject.notes))


@np.errstate(all="ignore")
def second_picture(view: str, subject: Subject, values: Values) -> Drawable | None:
    """The further picture of a view, if it has one."""
    try:
        return VIEWS[view].second_picture(subject, values)
    except REFUSED:
        return None
