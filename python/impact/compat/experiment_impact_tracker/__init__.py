"""The interface of experiment-impact-tracker."""

from __future__ import annotations

from impact.compat.experiment_impact_tracker.compute_tracker import ImpactTracker
from impact.compat.experiment_impact_tracker.cpu.common import CPUAttributeAssertionError, assert_cpus_by_attributes
from impact.compat.experiment_impact_tracker.data_interface import DataInterface
from impact.compat.experiment_impact_tracker.gpu.nvidia import GPUAttributeAssertionError, assert_gpus_by_attributes

__all__ = [
    "CPUAttributeAssertionError",
    "DataInterface",
    "GPUAttributeAssertionError",
    "ImpactTracker",
    "assert_cpus_by_attributes",
    "assert_gpus_by_attributes",
]
