"""The time model: the time of a launch from flow balance, with the last warp of every block."""

from warpbound.time_model.launch import LaunchPrediction, predict_launch
from warpbound.time_model.launched_work import LaunchedWork

__all__ = ["LaunchPrediction", "LaunchedWork", "predict_launch"]
