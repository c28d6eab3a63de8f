"""The energy of a run, divided among the spans of a profile."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Machine

import impact


def test_spans_and_what_they_do_not_cover_add_up_to_the_energy_of_the_run(machine: Machine) -> None:
    with impact.track("a") as run:
        machine.spend(10)
    Path("spans.csv").write_text("name,start,end\nload,0,0.05\ntrain,0.05,0.1\n")
    assert run.path is not None
    found = impact.attribute(run.path, "spans.csv", offset=0)
    assert {part.name for part in found} == {"load", "train"}
    assert found.quality == "interpolated"
    energies = [part.energy for part in found]
    assert None not in energies
    assert found.energy is not None
    assert found.uncovered is not None
    assert sum(energies, found.uncovered) == found.energy
    assert float(found.energy) == pytest.approx(10)
    assert "train" in str(found)


def test_a_profile_that_is_not_there_is_an_error(machine: Machine) -> None:
    with impact.track("a") as run:
        machine.spend(1)
    assert run.path is not None
    with pytest.raises(impact.ImpactError, match=r"layers\.trace\.json"):
        impact.attribute(run.path)
