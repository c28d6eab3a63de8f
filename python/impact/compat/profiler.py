"""The power-cap functions under the name of the module in which the study has them."""

from __future__ import annotations

from impact.compat.measurement import power_cap_profiler, reset_power_cap, set_power_cap

__all__ = ["power_cap_profiler", "reset_power_cap", "set_power_cap"]
