"""Kernels of examples/triton as functions."""

import importlib.util
from typing import Any

from support.paths import ROOT


def attention() -> Any:
    """Forward attention."""
    path = ROOT / "examples" / "triton" / "attention.py"
    spec = importlib.util.spec_from_file_location("attention_example", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.attention
