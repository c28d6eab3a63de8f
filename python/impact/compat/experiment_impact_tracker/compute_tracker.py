"""`ImpactTracker` of experiment-impact-tracker."""

from __future__ import annotations

import functools
import os
from typing import TYPE_CHECKING, Any

from impact import program
from impact.places import Place, region
from impact.run import Run, track
from impact.samples import last_sample

if TYPE_CHECKING:
    from types import TracebackType


class ImpactTracker:
    """Measures this process and all that it starts, into `logdir/impacttracker`.

    `region_coords` are latitude and longitude. Without them the place is the one that is configured; the network is not
    asked.
    """

    def __init__(self, logdir: str | os.PathLike[str], region_coords: tuple[float, float] | None = None) -> None:
        self.logdir = os.fspath(logdir)
        self._coordinates = region_coords
        self._run: Run | None = None

    @functools.cached_property
    def _place(self) -> Place | None:
        try:
            if self._coordinates is None:
                return region(current=True)
            latitude, longitude = self._coordinates
            return region(lat=latitude, lon=longitude)
        except program.ImpactError as error:
            if self._coordinates is not None:
                program.tell(f"the place is not known: {error}")
            return None

    @property
    def initial_info(self) -> dict[str, Any]:
        """The place, as that tool names it; values are None where the place is not known."""
        data = {} if self._place is None else self._place.data
        intensity = data.get("carbon_intensity")
        return {
            "region": {"id": data.get("zone"), "properties": {"zoneName": data.get("zone")}},
            "region_carbon_intensity_estimate": {
                "_source": data.get("source"),
                "carbonIntensity": None if intensity is None else float(intensity),
                "renewableRatio": _ratio(data.get("renewable_share")),
                "fossilFuelRatio": _ratio(data.get("fossil_share")),
            },
        }

    def launch_impact_monitor(self) -> None:
        """Starts to measure."""
        if self._run is None:
            place = self._place if self._coordinates is not None else None
            zone = None if place is None else place.zone
            self._run = track(self.logdir, zone=zone).start()

    def get_latest_info_and_check_for_errors(self) -> dict[str, Any] | None:
        """The last sample; raises if the tracker has failed."""
        if self._run is None:
            raise program.ImpactError("the tracker has not been started; call launch_impact_monitor() first")
        self._run.check()
        return None if self._run.path is None else last_sample(self._run.path)

    def stop(self) -> None:
        """Ends the measurement."""
        if self._run is not None:
            self._run.stop()

    def __enter__(self) -> ImpactTracker:
        self.launch_impact_monitor()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def _ratio(share: object) -> float | None:
    return None if share is None else float(share)  # type: ignore[arg-type]
