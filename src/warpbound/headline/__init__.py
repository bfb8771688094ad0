"""The headline prediction: the time of a launch from flow balance, with the last warp of every block."""

from warpbound.headline.launch import LaunchPrediction, predict_launch

__all__ = ["LaunchPrediction", "predict_launch"]
