"""What tokens cost, where spans do not say what a call did."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

from otel_watchdog.errors import ConfigError

MAX_PRICE: Final = 1e6
"""US dollars for a million tokens, at most."""

_MILLION: Final = 1_000_000


class Prices:
    """Prices by model.

    >>> prices = Prices(["small-*=0.25/2", "*=1.25/10"])
    >>> prices.cost("small-2", 1_000_000, 100_000), prices.cost("big", 1_000_000, 0)
    (0.45, 1.25)

    Args:
        given: `MODEL=INPUT/OUTPUT` each, in US dollars for a million tokens; `*` in a model stands
            for any characters, and the first that fits counts.

    Raises:
        ConfigError: One has another form, or is out of its bounds.
    """

    def __init__(self, given: Iterable[str] = ()) -> None:
        self._prices = [_price(text) for text in given]

    def cost(
        self, model: str | None, input_tokens: int | None, output_tokens: int | None
    ) -> float | None:
        """Return what a call cost; `None`: no price fits, or its tokens are not known."""
        if input_tokens is None and output_tokens is None:
            return None
        for pattern, for_input, for_output in self._prices:
            if fnmatchcase(model or "", pattern):
                cost = (input_tokens or 0) * for_input + (output_tokens or 0) * for_output
                return cost / _MILLION
        return None


def _price(text: str) -> tuple[str, float, float]:
    pattern, _, price = text.rpartition("=")
    for_input, _, for_output = price.partition("/")
    try:
        pair = float(for_input), float(for_output)
    except ValueError:
        pair = -1.0, -1.0
    if not pattern or not all(0 <= one <= MAX_PRICE for one in pair):
        raise ConfigError(
            f"price must be MODEL=INPUT/OUTPUT, in US dollars for a million tokens, got {text!r}"
        )
    return pattern, *pair
