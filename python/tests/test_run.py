"""A run of this process: energy, phases, and what becomes of it however it ends."""

from __future__ import annotations

import asyncio
import os
import pickle
import threading
import time
import warnings
from pathlib import Path

import pytest
from conftest import Machine, Simulator, await_no_tracker, log_of, python, spin, trackers_of

import impact


def test_the_energy_of_a_run_is_what_its_meters_showed(machine: Machine) -> None:
    with impact.track("a", zone="FR", pue=1.5) as run:
        machine.spend(36)
        machine.spend(2, "intel-rapl:0:1")
    assert run.energy is not None
    assert float(run.energy.to("J")) == pytest.approx(38.0, rel=1e-9)
    assert run.energy.quality == "measured"
    assert run.energy_with_pue is not None
    assert float(run.energy_with_pue) == pytest.approx(float(run.energy) * 1.5)
    assert run.co2 is not None
    assert float(run.co2.to("g CO2eq")) == pytest.approx(float(run.energy_with_pue) * 31)
    assert "package-0" in run.report()


def test_what_is_not_known_is_none(machine: Machine) -> None:
    with impact.track("a") as run:
        pass
    assert run.record is not None
    assert run.record.gpu_energy is None


def test_options_are_in_the_log(machine: Machine) -> None:
    with impact.track("a", name="mine", zone="GB", tags={"lr": 0.1, "note": "a=b c"}, pue=1.25, interval=0.5) as run:
        pass
    assert run.path is not None
    info, _ = log_of(run.path)
    assert info["name"] == "mine"
    assert info["tags"] == {"lr": "0.1", "note": "a=b c"}
    assert info["region"]["zone"] == "GB"
    assert info["pue"] == 1.25
    assert info["interval_s"] == 0.5


def test_phases_have_the_energy_of_their_time_within_a_percent(machine: Machine) -> None:
    joules = {}
    with impact.track("a") as run:
        machine.run_along(0.3, 50)
        for name, seconds, watts in (("load", 0.7, 40.0), ("train", 1.2, 60.0)):
            with run.phase(name):
                joules[name] = machine.run_along(seconds, watts)
            machine.run_along(0.2, 50)
    assert list(run.phases) == ["load", "train"]
    for name, phase in run.phases.items():
        assert float(phase.energy) == pytest.approx(joules[name], rel=0.01), name
        assert phase.energy.quality == "measured"


def test_counts_give_the_energy_for_a_unit_of_work(simulator: Simulator) -> None:
    with impact.track("a") as run:
        for _ in range(3):
            with run.phase("epoch", count={"samples": 50_000}) as phase:
                spin(0.1)
                phase.count["tokens"] = 7
        run.count(images=2.5)
    epoch = run.phases["epoch"]
    assert epoch.repetitions == 3
    assert epoch.counts == {"samples": 150_000, "tokens": 21}
    assert float(epoch.energy_per("samples")) == pytest.approx(float(epoch.energy) / 150_000)
    assert run.record is not None
    assert run.record.counts == {"samples": 150_000, "tokens": 21, "images": 2.5}
    with pytest.raises(KeyError):
        epoch.energy_per("nothing")


def test_phases_of_threads_and_inside_each_other_are_told_apart(machine: Machine) -> None:
    with impact.track("a") as run:

        def work() -> None:
            for _ in range(5):
                with run.phase("work"):
                    time.sleep(0.01)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        outer = run.phase("outer")
        with outer, outer:
            pass
    assert run.phases["work"].repetitions == 20
    assert run.phases["outer"].repetitions == 2


def test_every_mark_arrives_also_when_they_come_faster_than_the_kernel_takes_them(machine: Machine) -> None:
    with impact.track("a") as run:
        for _ in range(1000):
            with run.phase("fast"):
                pass
    assert run.phases["fast"].repetitions == 1000


def test_marks_just_before_the_end_arrive(machine: Machine) -> None:
    for number in range(20):
        run = impact.start(f"end-{number}")
        with run.phase("one"):
            pass
        run.phase("two").__enter__()
        run.stop()
        assert set(run.phases) == {"one", "two"}


def test_names_may_be_anything(machine: Machine) -> None:
    names = ['"; drop', "a\nb", "ü" * 2000, "\ud800", "", "</script>"]
    with impact.track("a") as run:
        for name in names:
            with run.phase(name):
                pass
    assert len(run.phases) == len(names)
    assert run.record is not None
    assert "</script>" not in run.record._repr_html_()


def test_a_bad_count_is_refused_where_the_phase_is_made() -> None:
    for count in (-1, float("nan"), float("inf"), 1e300):
        with pytest.raises(ValueError, match="a count is"):
            impact.phase("x", count={"tokens": count})


def test_an_exception_comes_through_unchanged_and_the_log_is_complete(machine: Machine) -> None:
    error = RuntimeError("mine")
    with pytest.raises(RuntimeError) as caught, impact.track("raised") as run, run.phase("train"):
        raise error
    assert caught.value is error
    assert run.path is not None
    assert "ended" in log_of(run.path)[0]
    assert run.phases["train"].repetitions == 1
    await_no_tracker("--out=raised")


def test_ctrl_c_comes_through_also_while_the_tracker_starts(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyboardInterrupt), impact.track("a"):
        raise KeyboardInterrupt

    def interrupted(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("impact.tracker._started", interrupted)
    with pytest.raises(KeyboardInterrupt):
        impact.start("interrupted")
    await_no_tracker("--out=interrupted")


def test_nested_runs_know_each_other_and_count_once(machine: Machine) -> None:
    with impact.track("runs/outer") as outer:
        machine.spend(2)
        with impact.track("runs/inner") as inner:
            machine.spend(7)
        machine.spend(1)
    assert inner.path is not None
    assert log_of(inner.path)[0]["inside"] == outer.id
    assert outer.energy is not None
    assert inner.energy is not None
    assert float(outer.energy.to("J")) == pytest.approx(10.0)
    assert float(inner.energy.to("J")) == pytest.approx(7.0)
    total = impact.read("runs").total.energy
    assert total is not None
    assert float(total.to("J")) == pytest.approx(10.0)


def test_short_runs_after_each_other_all_count(machine: Machine) -> None:
    for number in range(3):
        with impact.track(f"runs/{number}"):
            machine.spend(2)
    runs = impact.read("runs")
    assert len(runs) == 3
    assert runs.total.energy is not None
    assert float(runs.total.energy.to("J")) == pytest.approx(6.0)


def test_the_environment_is_as_before(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IMPACT_TRACKER", raising=False)
    with impact.track("a") as a:
        assert os.environ["IMPACT_TRACKER"] == f"@impact-{a.id}"
        with impact.track("b") as b:
            assert os.environ["IMPACT_OUTER_RUNS"] == f"{a.id},{b.id}"
        assert os.environ["IMPACT_TRACKER"] == f"@impact-{a.id}"
    assert "IMPACT_TRACKER" not in os.environ
    assert "IMPACT_OUTER_RUNS" not in os.environ


def test_runs_that_end_in_another_order_leave_the_environment_as_before(machine: Machine) -> None:
    a, b = impact.start("a"), impact.start("b")
    a.stop()
    assert os.environ["IMPACT_TRACKER"] == f"@impact-{b.id}"
    b.stop()
    assert "IMPACT_TRACKER" not in os.environ


def test_a_tracker_that_cannot_be_started_is_a_warning_and_the_job_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IMPACT_PROGRAM", "/bin/false")
    with pytest.warns(impact.ImpactWarning, match="this run is not measured"), impact.track("a") as run:
        done = True
    assert done
    assert run.energy is None
    assert run.phases == {}
    assert "not measured" in run.report()
    assert "not measured" in run._repr_html_()
    with pytest.raises(impact.TrackerDiedError):
        run.check()
    with pytest.raises(impact.ImpactError):
        impact.start("b", strict=True)


def test_the_warning_has_the_reason(machine: Machine) -> None:
    with pytest.warns(impact.ImpactWarning, match="no zone"), impact.track("a", zone="Nowhere"):
        pass


def test_warnings_that_are_errors_do_not_stop_the_job(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("IMPACT_PROGRAM", "/nowhere/impact")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with impact.track("a"):
            pass
    assert "impact: this run is not measured" in capsys.readouterr().err


def test_check_tells_that_the_tracker_died_and_the_job_goes_on(machine: Machine) -> None:
    run = impact.start("killed")
    run.check()
    for pid in trackers_of("--out=killed"):
        os.kill(pid, 9)
    end = time.monotonic() + 5
    while run.is_running and time.monotonic() < end:
        time.sleep(0.01)
    with pytest.raises(impact.TrackerDiedError):
        run.check()
    with run.phase("after"):
        pass
    with pytest.warns(impact.ImpactWarning, match="has ended before the run"):
        run.stop()
    with pytest.raises(impact.TrackerDiedError, match="has ended before the run"):
        run.check()
    assert run.path is not None
    assert log_of(run.path)[1]


def test_the_tracker_is_no_child_and_leaves_no_zombie(machine: Machine) -> None:
    script = """
import impact, os
def children():
    try:
        return os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None
with impact.track("a", strict=True) as run:
    # A job that waits for all its children must not wait for the tracker.
    print(children())
print(children())
"""
    assert python(script).stdout.split() == ["None", "None"]


def test_a_process_that_inherits_orphans_reaps_the_tracker(machine: Machine) -> None:
    script = """
import ctypes, impact, os
assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0  # PR_SET_CHILD_SUBREAPER
impact.start("a", strict=True).stop()
try:
    print(os.waitpid(-1, os.WNOHANG))
except ChildProcessError:
    print("none")
"""
    done = python(script)
    assert done.stdout.strip() == "none", done.stderr


def test_runs_in_threads_leave_the_environment_as_before(machine: Machine) -> None:
    def work(number: int) -> None:
        for turn in range(5):
            # Starting and stopping change the environment with which the others start programs.
            with impact.track(f"runs/{number}-{turn}", strict=True) as run:
                run.report()

    threads = [threading.Thread(target=work, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(list(Path("runs").iterdir())) == 20
    assert "IMPACT_TRACKER" not in os.environ
    assert "IMPACT_OUTER_RUNS" not in os.environ


def test_threads_that_stop_a_run_together_stop_it_once(machine: Machine) -> None:
    run = impact.start("a")
    gate = threading.Barrier(8)

    def stop() -> None:
        gate.wait()
        run.stop()

    threads = [threading.Thread(target=stop) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run.check()
    assert run.path is not None
    assert "ended" in log_of(run.path)[0]


def test_stopping_twice_and_starting_twice_do_nothing(machine: Machine) -> None:
    run = impact.start("a")
    assert run.start() is run
    run.stop().stop()
    assert run.start() is run
    assert not run.is_running


def test_a_folder_that_has_a_run_keeps_it(machine: Machine) -> None:
    with impact.track("a") as first:
        machine.spend(2)
    with impact.track("a") as second:
        pass
    assert first.path != second.path
    assert first.energy is not None
    assert float(first.energy.to("J")) == pytest.approx(2.0)
    assert len(impact.read("a")) == 2


def test_live_figures_while_it_runs(simulator: Simulator) -> None:
    with impact.track("a", interval=0.05) as run:
        spin(0.5)
        early = impact.latest(run)
        spin(0.3)
        late = impact.latest(run)
    assert early is not None
    assert late is not None
    assert early.energy is not None
    assert late.energy is not None
    assert 0 < early.energy < late.energy


def test_decorated_functions_are_measured_and_unchanged(machine: Machine) -> None:
    @impact.tracked(out="sync", tags={"a": 1})
    def add(a: int, b: int = 2) -> int:
        """Adds."""
        return a + b

    @impact.tracked
    async def wait(seconds: float) -> str:
        await asyncio.sleep(seconds)
        return "waited"

    @impact.tracked(out="generator")
    def count(n: int):  # type: ignore[no-untyped-def]
        yield from range(n)

    assert add(1) == 3
    assert add.__name__ == "add"
    assert add.__doc__ == "Adds."
    assert asyncio.run(wait(0.01)) == "waited"
    assert list(count(3)) == [0, 1, 2]
    assert impact.read("sync")[0].name.endswith("add")  # type: ignore[union-attr]
    assert len(impact.read("impact-logs")) == 1
    assert len(impact.read("generator")) == 1


def test_a_run_can_be_pickled_for_workers(machine: Machine) -> None:
    with impact.track("a") as run:
        copy = pickle.loads(pickle.dumps(run))
        with copy.phase("elsewhere"):
            pass
        copy.stop()
        copy.check()
        assert run.is_running
        assert copy.is_running
        assert copy.path == run.path
    end = time.monotonic() + 5
    while copy.is_running and time.monotonic() < end:
        time.sleep(0.01)
    with pytest.raises(impact.TrackerDiedError):
        copy.check()
    assert "elsewhere" in run.phases


def test_phases_without_a_run_do_nothing() -> None:
    with impact.phase("x", count={"y": 1}):
        impact.mark("z")


def test_phases_of_the_environment_reach_the_run(machine: Machine) -> None:
    with impact.track("a") as run:
        with impact.phase("inside"):
            impact.mark("point")
        run.mark("last")
    assert {"inside", "point", "last"} <= set(run.phases)


def test_an_unreadable_folder_of_logs_is_an_error_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(impact.ImpactError, match="nowhere"):
        impact.read(tmp_path / "nowhere")
