"""Section 4.1: R2 of the regressions, and what the selection of predictors leaves."""

from warpbound.adapt.partition_benchmarks import fits, selected, shipped
from warpbound.models.campprof_2011.regression import PUBLISHED
from warpbound.reproduce.item import Given, Numbers


def numbers(given: Given) -> Numbers:
    """Least and most of the four, in the paper's form and with a slope for each size."""
    table = shipped(given["gpu"])
    if table is None:
        raise ValueError(f"{given['gpu']} has no benchmark data")
    published, by_size = ([one.r_squared for one in fits(table, form).values()] for form in ("published", "by-size"))
    return {
        "R2, least": min(published),
        "R2, most": max(published),
        "no predictor is insignificant": all(kept == PUBLISHED for kept in selected(table).values()),
        "R2 with a slope for each size, least": min(by_size),
    }
