"""The headline prediction: the time of a launch from flow balance, with the last warp of every block."""

from warpbound.headline.launch import LaunchPrediction, predict_launch
from warpbound.headline.launched_work import LaunchedWork

__all__ = ["LaunchPrediction", "LaunchedWork", "predict_launch"]
