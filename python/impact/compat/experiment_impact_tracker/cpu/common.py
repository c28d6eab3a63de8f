"""`assert_cpus_by_attributes` of experiment-impact-tracker."""

from __future__ import annotations

from collections.abc import Mapping

from impact.requirements import RequirementError, require

_OPTIONS = {"brand": "cpu_brand"}


class CPUAttributeAssertionError(Exception):
    """The processors are not those that are asked for."""


def assert_cpus_by_attributes(attributes_set: Mapping[str, str]) -> None:
    """Raises unless the processors have the attribute `brand`."""
    unknown = sorted(set(attributes_set) - set(_OPTIONS))
    if unknown:
        raise CPUAttributeAssertionError(f"{', '.join(unknown)} cannot be checked; these can: {', '.join(_OPTIONS)}")
    try:
        require(**{_OPTIONS[key]: value for key, value in attributes_set.items()})
    except RequirementError as error:
        raise CPUAttributeAssertionError(str(error)) from error
