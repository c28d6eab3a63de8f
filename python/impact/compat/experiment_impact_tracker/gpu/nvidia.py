"""`assert_gpus_by_attributes` of experiment-impact-tracker."""

from __future__ import annotations

from collections.abc import Mapping

from impact.requirements import RequirementError, require

_OPTIONS = {"name": "gpu_name", "driver_version": "driver"}


class GPUAttributeAssertionError(Exception):
    """The GPUs are not those that are asked for."""


def assert_gpus_by_attributes(attributes_set: Mapping[str, str]) -> None:
    """Raises unless every GPU has the attributes `name` and `driver_version`; a machine without GPUs has none."""
    unknown = sorted(set(attributes_set) - set(_OPTIONS))
    if unknown:
        raise GPUAttributeAssertionError(f"{', '.join(unknown)} cannot be checked; these can: {', '.join(_OPTIONS)}")
    try:
        require(**{_OPTIONS[key]: value for key, value in attributes_set.items()})
    except RequirementError as error:
        raise GPUAttributeAssertionError(str(error)) from error
