"""Quantities: an exact number with its unit, its uncertainty and how it was found out."""

from __future__ import annotations

import html
from decimal import Context, Decimal
from typing import Any, Union

_EXACT = Context(prec=80)
_FACTORS = {
    "J": ("energy", Decimal(1)),
    "Wh": ("energy", Decimal(3600)),
    "kWh": ("energy", Decimal(3_600_000)),
    "g CO2eq": ("mass", Decimal(1)),
    "kg CO2eq": ("mass", Decimal(1000)),
    "s": ("time", Decimal(1)),
    "h": ("time", Decimal(3600)),
}
# The unit in which people read a figure, and whether it takes prefixes.
_SHOWN = {"kWh": "Wh", "kg CO2eq": "g CO2eq", "h": "s"}
_SCALED = {"J", "Wh", "W", "g CO2eq", "s"}
_PREFIXES = (
    (Decimal("1e6"), "M"),
    (Decimal("1e3"), "k"),
    (Decimal(1), ""),
    (Decimal("1e-3"), "m"),
    (Decimal("1e-6"), "µ"),
)
_LEAST_WATT_HOURS = Decimal("1e-4")
_SIGNIFICANT = 4

Number = Union[int, float, Decimal]


class Quantity(float):
    """A number with a unit.

    It is a float, so that it can be used like one; `exact` is the same number without rounding. Quantities of one unit
    add up exactly, in any order.

    >>> a, b = Quantity("0.1", "kWh", quality="measured"), Quantity("0.2", "kWh", quality="measured")
    >>> a + b
    300 Wh (measured)
    >>> (a + b).exact
    Decimal('0.3')
    >>> sum([a, b]) == Quantity("0.3", "kWh")
    True
    >>> (a + b).to("J")
    1.08 MJ (measured)
    >>> f"{a:.2f}"
    '0.10'
    """

    __slots__ = ("exact", "quality", "uncertainty", "unit")

    exact: Decimal
    """The number, not rounded."""
    unit: str
    """The unit, such as `kWh`, `kg CO2eq`, `J`, `h`."""
    uncertainty: Decimal | None
    """The standard error in the same unit; None if it is not known."""
    quality: str | None
    """`measured`, `estimated`, `partly estimated`; None if that does not apply."""

    def __new__(
        cls, exact: Number | str, unit: str, *, uncertainty: Decimal | None = None, quality: str | None = None
    ) -> Quantity:
        number = exact if isinstance(exact, Decimal) else Decimal(exact)
        self = super().__new__(cls, number)
        self.exact = number
        self.unit = unit
        self.uncertainty = uncertainty
        self.quality = quality
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (self.exact, self.unit, self.uncertainty, self.quality))

    def to(self, unit: str) -> Quantity:
        """The same quantity in another unit."""
        if unit == self.unit:
            return self
        kind, factor = _FACTORS.get(self.unit, (None, Decimal(1)))
        other, divisor = _FACTORS.get(unit, (None, Decimal(1)))
        if kind is None or kind != other:
            raise ValueError(f"{self.unit} cannot be converted to {unit}")

        def converted(number: Decimal) -> Decimal:
            return _EXACT.divide(_EXACT.multiply(number, factor), divisor)

        uncertainty = None if self.uncertainty is None else converted(self.uncertainty)
        return Quantity(converted(self.exact), unit, uncertainty=uncertainty, quality=self.quality)

    def __add__(self, other: object) -> Any:
        if isinstance(other, Quantity):
            return self._sum(other, 1)
        # `sum` starts with 0.
        return self if isinstance(other, int) and other == 0 else float.__add__(self, other)  # type: ignore[operator]

    __radd__ = __add__

    def __sub__(self, other: object) -> Any:
        return self._sum(other, -1) if isinstance(other, Quantity) else float.__sub__(self, other)  # type: ignore[operator]

    def _sum(self, other: Quantity, sign: int) -> Quantity:
        if other.unit != self.unit:
            raise ValueError(f"{self.unit} and {other.unit} cannot be added; convert one with .to()")
        exact = _EXACT.add(self.exact, _EXACT.multiply(Decimal(sign), other.exact))
        return type(self)(exact, self.unit, quality=combined([self.quality, other.quality]))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Quantity):
            return self.unit == other.unit and self.exact == other.exact
        return float.__eq__(self, other) is True

    def __ne__(self, other: object) -> bool:
        return not self == other

    # Equal quantities are equal floats.
    __hash__ = float.__hash__

    def __str__(self) -> str:
        number, unit = scaled(self.exact, self.unit)
        error = ""
        if self.uncertainty is not None:
            factor = number / self.exact if self.exact else Decimal(1)
            error = f" ± {significant(self.uncertainty * factor, 2)}"
        return f"{significant(number)}{error} {unit}".rstrip()

    def __repr__(self) -> str:
        return f"{self} ({self.quality})" if self.quality else str(self)

    def __format__(self, spec: str) -> str:
        return float.__format__(self, spec) if spec else str(self)

    def _repr_html_(self) -> str:
        return f"<span title='{html.escape(f'{self.exact:f} {self.unit}')}'>{html.escape(repr(self))}</span>"


def _restored(exact: Decimal, unit: str, uncertainty: Decimal | None, quality: str | None) -> Quantity:
    return Quantity(exact, unit, uncertainty=uncertainty, quality=quality)


def combined(qualities: list[str | None]) -> str | None:
    """The quality of a sum.

    >>> combined(["measured", "measured"]), combined(["measured", "estimated"])
    ('measured', 'partly estimated')
    """
    known = {quality for quality in qualities if quality is not None}
    return known.pop() if len(known) == 1 else "partly estimated" if known else None


def quality_of(measured_share: Number | None) -> str | None:
    """The quality of energy of which this share was measured."""
    if measured_share is None:
        return None
    return "measured" if measured_share == 1 else "estimated" if measured_share == 0 else "partly estimated"


def scaled(number: Decimal, unit: str) -> tuple[Decimal, str]:
    """The number in a unit that makes it easy to read.

    >>> scaled(Decimal("0.0005"), "kWh"), scaled(Decimal(2), "h")
    ((Decimal('500.0'), 'mWh'), (Decimal('2'), 'h'))
    >>> scaled(Decimal("5e-7"), "kWh"), scaled(Decimal("1e-8"), "kWh")
    ((Decimal('0.5000'), 'mWh'), (Decimal('36.00000'), 'mJ'))
    """
    # As in what the program prints: people use no watt-hours smaller than this.
    if unit in ("Wh", "kWh") and 0 < abs(number) * _FACTORS[unit][1] < _LEAST_WATT_HOURS * 3600:
        number, unit = number * _FACTORS[unit][1], "J"
    if unit == "h" and number * 3600 >= 60:
        return (number, "h") if number >= 1 else (number * 60, "min")
    if unit in _SHOWN:
        _, factor = _FACTORS[unit]
        number, unit = number * factor / _FACTORS[_SHOWN[unit]][1], _SHOWN[unit]
    if unit not in _SCALED or number == 0:
        return number, unit
    prefixes = _PREFIXES[2:] if unit == "s" else _PREFIXES[:-1] if unit == "Wh" else _PREFIXES
    factor, prefix = next((pair for pair in prefixes if abs(number) >= pair[0]), prefixes[-1])
    return number / factor, prefix + unit


def significant(number: Decimal, digits: int = _SIGNIFICANT) -> str:
    """The number with so many significant digits.

    >>> significant(Decimal("1234.56")), significant(Decimal("0.0123456")), significant(Decimal(12345))
    ('1235', '0.01235', '12345')
    """
    if number == 0:
        return "0"
    rounded = number.normalize(Context(prec=max(digits, number.adjusted() + 1)))
    return f"{rounded:f}"
