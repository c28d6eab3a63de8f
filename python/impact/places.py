"""Carbon intensity of a place, and estimates from hardware."""

from __future__ import annotations

from typing import Any

from impact import card, program
from impact.quantity import Quantity


class Place:
    """An electricity zone and its carbon intensity."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        """The answer as `impact region --format json` gives it."""
        self.zone: str = data["zone"]
        self.name: str | None = data.get("name")
        self.year: int | None = data.get("year")
        self.source: str | None = data.get("source")
        self.how: str | None = data.get("how")
        """How the place was found."""

    @property
    def carbon_intensity(self) -> Quantity | None:
        """Carbon intensity of the electricity."""
        value = self.data.get("carbon_intensity")
        return None if value is None else Quantity(value, "g CO2eq/kWh")

    def __repr__(self) -> str:
        return f"<{self.zone}: {self.carbon_intensity or 'carbon intensity unknown'}, {self.source}, {self.year}>"


def region(address: str | None = None, *, zone: str | None = None, country: str | None = None, **options: Any) -> Place:
    """The electricity zone of a place. Other options are those of `impact region`.

    >>> region(address="Stanford, California").zone
    'US-CA'
    >>> region(zone="FR").carbon_intensity.unit
    'g CO2eq/kWh'
    """
    words = program.options(address=address, zone=zone, country=country, **options)
    return Place(program.parse(program.output(["region", "--format=json", *words])))


class Estimate:
    """The energy and emissions of a job as estimated from its hardware: not a measurement."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        """The answer as `impact estimate --format json` gives it; `assumptions` says what it rests on."""

    def _quantity(self, key: str, bound: str, unit: str) -> Quantity | None:
        value = (self.data.get(key) or {}).get(bound)
        return None if value is None else Quantity(value, unit, quality="estimated")

    @property
    def energy_with_pue(self) -> Quantity | None:
        """Energy, PUE included."""
        return self._quantity("total_power", "middle", "kWh")

    @property
    def energy_bounds(self) -> tuple[Quantity | None, Quantity | None]:
        """The low and the high figure of the energy."""
        return self._quantity("total_power", "low", "kWh"), self._quantity("total_power", "high", "kWh")

    @property
    def co2(self) -> Quantity | None:
        """Emissions; None if the place is not known."""
        return self._quantity("estimated_carbon_impact_kg", "middle", "kg CO2eq")

    @property
    def co2_bounds(self) -> tuple[Quantity | None, Quantity | None]:
        """The low and the high figure of the emissions."""
        key, unit = "estimated_carbon_impact_kg", "kg CO2eq"
        return self._quantity(key, "low", unit), self._quantity(key, "high", unit)

    def __str__(self) -> str:
        return str(self.data.get("statement", "")).rstrip()

    def __repr__(self) -> str:
        low, high = self.energy_bounds
        return f"<estimate: {self.energy_with_pue}, {low} to {high}>"

    def _repr_html_(self) -> str:
        return card.of_text("impact estimate", str(self))


def estimate(
    *,
    hours: float | None = None,
    gpu: str | None = None,
    gpus: int | None = None,
    cpu: str | None = None,
    cpus: int | None = None,
    **options: Any,
) -> Estimate:
    """Estimates the energy and emissions of a job from the design power of its hardware.

    Other options are those of `impact estimate`. The estimate is rough; `track` measures.

    >>> estimate(gpu="A100 SXM4 80GB", hours=24, zone="FR", pue=1.5)
    <estimate: 14.4 kWh, 10.08 kWh to 15.84 kWh>
    """
    words = program.options(hours=hours, gpu=gpu, gpus=gpus, cpu=cpu, cpus=cpus, **options)
    return Estimate(program.parse(program.output(["estimate", "--format=json", *words])))
