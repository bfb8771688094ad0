"""Power of a launch, and the clock at which a board stays within its limit."""

from warpbound.power.activity import Activity, activity
from warpbound.power.draw import PowerParameters, power_parameters, voltage, watts
from warpbound.power.sustained_clock import HeldClock, Operation, clock_steps, held, least_energy, operation_at

__all__ = [
    "Activity", "HeldClock", "Operation", "PowerParameters", "activity", "clock_steps", "held", "least_energy",
    "operation_at", "power_parameters", "voltage", "watts",
]  # fmt: skip
