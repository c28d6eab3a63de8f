"""Reading runs: exact figures, tables, statements, comparisons."""

from __future__ import annotations

import pickle
from decimal import Decimal
from pathlib import Path

import logs
import pytest

import impact
from impact.quantity import Quantity


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Seven runs with figures that are no short decimals."""
    for number in range(7):
        logs.write(tmp_path / "runs" / f"r{number}", 1234.567 / (number + 3), tags={"lr": str(number), "a b": "=1+1"})
    return tmp_path / "runs"


def test_sums_equal_the_statement_to_the_last_digit(runs: Path) -> None:
    read = impact.read(runs)
    statement = impact.statement(runs, format="json")
    assert len(read) == 7
    for ours, theirs in (
        (read.total.energy_with_pue, "total_power"),
        (read.total.co2, "estimated_carbon_impact_kg"),
        (read.total.duration, "exp_len_hours"),
    ):
        assert ours is not None
        assert ours.exact == statement[theirs]
    assert sum(run.energy_with_pue for run in read) == read.total.energy_with_pue  # type: ignore[misc]
    assert sum(run.co2 for run in reversed(read)) == read.total.co2  # type: ignore[misc]
    parts = [impact.read(run.path).total.co2 for run in read]
    assert sum(parts) == read.total.co2  # type: ignore[arg-type]


def test_what_is_not_known_is_not_nought(tmp_path: Path) -> None:
    logs.write(tmp_path / "a", 10, zone=None)
    run = impact.read(tmp_path / "a")[0]
    assert run.co2 is None
    assert run.gpu_energy is None
    assert run.missing.get("gpu") or run.gpu_energy is None
    assert "unknown" in run._repr_html_()


def test_a_log_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    logs.write(tmp_path / "a", 10)
    bad = logs.write(tmp_path / "bad", 10)
    (bad / "impacttracker" / "data.json").write_text("nothing")
    with pytest.warns(impact.ImpactWarning, match="left out: .*bad.*holds no sample"):
        runs = impact.read(tmp_path)
    assert len(runs) == 1
    assert len(runs.skipped) == 1
    with pytest.warns(impact.ImpactWarning, match=r"left out: .*bad"):
        assert "1 of 2 runs could not be read" in impact.statement(tmp_path)


def test_a_run_inside_of_another_is_no_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs.write(tmp_path / "outer", 10, id="outer")
    logs.write(tmp_path / "inner", 5, id="inner", inside="outer", started="2025-01-01T00:00:00.5+00:00")
    runs = impact.read(tmp_path)
    assert [run.name for run in runs] == ["outer"]
    assert [Path(skipped["path"]).name for skipped in runs.skipped] == ["inner"]
    assert capsys.readouterr().err == ""
    assert repr(runs).startswith("<1 run: ")


def test_tables_hold_exact_decimals(runs: Path) -> None:
    read = impact.read(runs)
    total = read.total.energy_with_pue
    assert total is not None
    pandas = pytest.importorskip("pandas", reason="no pandas")
    frame = read.to_pandas(exact=True)
    assert frame["total_power"].sum() == total.exact
    assert isinstance(read.to_pandas(), pandas.DataFrame)
    assert read.to_pandas()["total_power"].dtype == "float64"
    assert list(frame["tag_lr"]) == [run.tags["lr"] for run in read]


def test_polars_and_arrow_hold_exact_decimals(runs: Path) -> None:
    pytest.importorskip("polars", reason="no polars")
    pytest.importorskip("pyarrow", reason="no pyarrow")
    import pyarrow.compute

    read = impact.read(runs)
    total = read.total.energy_with_pue
    assert total is not None
    assert read.to_polars(exact=True)["total_power"].sum() == total.exact
    assert pyarrow.compute.sum(read.to_arrow()["total_power"]).as_py() == total.exact
    assert read.to_arrow(exact=False)["total_power"].type == "double"
    assert read.to_polars()["kw_hr_gpu"].is_null().all()


def test_statements_in_all_formats(runs: Path) -> None:
    for format_, sign in (("text", "kWh"), ("latex", "\\"), ("markdown", "kWh"), ("html", "<")):
        statement = impact.statement(runs, country="USA", format=format_)
        assert sign in statement
        assert "<" in statement._repr_html_()
    assert "&lt;" in impact.statements.Statement._repr_html_(_statement("<b>"))


def _statement(text: str) -> impact.Statement:
    statement = impact.Statement(text)
    statement.kind = "text"
    return statement


def test_comparisons(tmp_path: Path) -> None:
    for group, joules in (("a", 100.0), ("b", 150.0)):
        for number in range(3):
            logs.write(tmp_path / group / f"r{number}", joules + number)
    comparison = impact.compare([tmp_path / "a", tmp_path / "b"], metric="energy")
    assert list(comparison.groups.values()) == [3, 3]
    difference = comparison.figures["total_power"]["against_first"][0]["relative_difference"]
    assert float(difference) == pytest.approx(50 / 101)
    assert "energy" in str(comparison)
    assert comparison.text("svg").startswith("<svg")
    assert "impact-card" in comparison._repr_html_()


def test_requirements() -> None:
    impact.require(cores=">=1")
    with pytest.raises(impact.RequirementError) as error:
        impact.require(cores=">=100000", gpu_name="No Such Board")
    assert {line["what"] for line in error.value.lines} == {"CPU cores", "GPU name"}
    assert error.value.expected
    assert error.value.found
    with pytest.raises(impact.ImpactError, match="cpu-colour"):
        impact.require(cpu_colour="red")


def test_estimates_have_bounds_and_say_what_they_are() -> None:
    estimate = impact.estimate(gpu="A100 SXM4 80GB", gpus=2, hours=1.5, zone="FR")
    low, high = estimate.energy_bounds
    assert estimate.energy_with_pue is not None
    assert low is not None
    assert high is not None
    assert low < estimate.energy_with_pue < high
    assert estimate.energy_with_pue.quality == "estimated"
    assert estimate.co2_bounds[0] is not None
    assert "ROUGH ESTIMATE" in str(estimate)
    # Some A100 draw 250 W, others 400 W.
    low, high = impact.estimate(gpu="A100", hours=24, pue=1).energy_bounds
    assert low is not None
    assert high is not None
    assert (low.exact, high.exact) == (Decimal("4.2"), Decimal("10.56"))
    with pytest.raises(impact.ImpactError, match="does not name one"):
        impact.estimate(cpu="Intel Xeon", hours=1)


def test_places() -> None:
    place = impact.region(address="Stanford, California")
    assert place.zone == "US-CA"
    assert place.carbon_intensity is not None
    assert place.carbon_intensity.unit == "g CO2eq/kWh"
    with pytest.raises(impact.ImpactError):
        impact.region(zone="XX-NOWHERE")


def test_a_value_is_no_option(tmp_path: Path) -> None:
    for value in ("--output=/tmp/stolen", "-o"):
        with pytest.raises(impact.ImpactError):
            impact.read(value)
        with pytest.raises(impact.ImpactError):
            impact.region(zone=value)


def test_quantities() -> None:
    a, b = Quantity("0.1", "kWh", quality="measured"), Quantity("0.2", "kWh", quality="estimated")
    assert (a + b).exact == Decimal("0.3")
    assert (a + b).quality == "partly estimated"
    assert a + b != 0.1 + 0.2 or float(a + b) == 0.3
    assert (b - a) == Quantity("0.1", "kWh")
    assert a * 2 == 0.2
    assert a.to("J").exact == 360_000
    assert pickle.loads(pickle.dumps(a)) == a
    assert hash(Quantity("0.1", "kWh")) == hash(a)
    assert f"{a:.3f}" == "0.100"
    assert repr(Quantity(5, "J", uncertainty=Decimal("0.25"))) == "5 ± 0.25 J"
    assert str(Quantity("0.0000003456", "kWh")) == "0.3456 mWh"
    assert str(Quantity("0.00000001234567", "kWh")) == "44.44 mJ"
    assert str(Quantity(0, "kg CO2eq")) == "0 g CO2eq"
    assert str(Quantity("0.5", "h")) == "30 min"
    assert str(Quantity("1e-9", "h")) == "3.6 µs"
    with pytest.raises(ValueError, match="cannot be added"):
        a + Quantity(1, "J")
    with pytest.raises(ValueError, match="cannot be converted"):
        a.to("g CO2eq")
    assert "0.1 kWh" in a._repr_html_()


def test_importing_starts_nothing_and_needs_nothing() -> None:
    from conftest import python

    script = "import sys; import impact; print(sorted({'subprocess', 'socket', 'json'} & set(sys.modules)))"
    done = python(script)
    assert done.stdout.strip() == "[]", done.stderr
