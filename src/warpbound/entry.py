"""What every answer is made of before it is printed: plain values by name, as JSON has them."""

from typing import Any

Entry = dict[str, Any]
