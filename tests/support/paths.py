"""Where things lie in the checkout."""

from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
ROOT = TESTS.parent
EXAMPLES = ROOT / "examples"
LISTINGS = EXAMPLES / "listings"
GOLDEN = TESTS / "golden"
GPUS = ROOT / "src" / "warpbound" / "gpus"
MODELS = ROOT / "src" / "warpbound" / "models"
MODELS_PAGE = ROOT / "docs" / "models.md"
