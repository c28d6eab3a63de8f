"""The figures of runs, as the program reports them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from impact.quantity import Quantity, quality_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

_PARTS = ("kw_hr_cpu", "kw_hr_gpu", "kw_hr_dram")


class Figures:
    """Energy, emissions and time of a run, or of several together. What is not known is None."""

    def __init__(self, figures: Mapping[str, Any]) -> None:
        self.data = dict(figures)
        """The figures by their names in JSON; numbers are exact."""

    def _quantity(self, key: str, unit: str, quality: str | None = None) -> Quantity | None:
        value: Decimal | None = self.data.get(key)
        return None if value is None else Quantity(value, unit, quality=quality)

    @property
    def quality(self) -> str | None:
        """Whether the energy is `measured`, `estimated` or `partly estimated`."""
        return quality_of(self.data.get("measured_share"))

    @property
    def measured_share(self) -> float | None:
        """The part of the energy that was measured, 0 to 1."""
        share = self.data.get("measured_share")
        return None if share is None else float(share)

    @property
    def energy(self) -> Quantity | None:
        """Energy of all devices, without the overhead of the data centre (PUE)."""
        parts = [part for key in _PARTS if (part := self._quantity(key, "kWh", self.quality)) is not None]
        return sum(parts[1:], parts[0]) if parts else None

    @property
    def energy_with_pue(self) -> Quantity | None:
        """Energy with the overhead of the data centre; statements state this one."""
        return self._quantity("total_power", "kWh")

    @property
    def cpu_energy(self) -> Quantity | None:
        """Energy of the processors, without PUE."""
        return self._quantity("kw_hr_cpu", "kWh")

    @property
    def gpu_energy(self) -> Quantity | None:
        """Energy of the GPUs, without PUE."""
        return self._quantity("kw_hr_gpu", "kWh")

    @property
    def memory_energy(self) -> Quantity | None:
        """Energy of the memory, without PUE."""
        return self._quantity("kw_hr_dram", "kWh")

    @property
    def co2(self) -> Quantity | None:
        """Emissions, PUE included; None if the place is not known."""
        return self._quantity("estimated_carbon_impact_kg", "kg CO2eq")

    @property
    def duration(self) -> Quantity | None:
        """Wall-clock time."""
        return self._quantity("exp_len_hours", "h")

    @property
    def cpu_time(self) -> Quantity | None:
        """CPU time of all processes."""
        return self._quantity("cpu_hours", "h")

    @property
    def gpu_time(self) -> Quantity | None:
        """Time that GPUs were busy."""
        return self._quantity("gpu_hours", "h")

    @property
    def carbon_intensity(self) -> Quantity | None:
        """Carbon intensity of the electricity."""
        return self._quantity("average_realtime_carbon_intensity", "g CO2eq/kWh")

    def __repr__(self) -> str:
        known = {"energy": self.energy, "co2": self.co2, "duration": self.duration}
        return ", ".join(f"{name} {'unknown' if value is None else repr(value)}" for name, value in known.items())
