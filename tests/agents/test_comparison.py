"""Two answers compared for an agent: decided as `diff` decides."""

from types import SimpleNamespace

import pytest

from warpbound.agents import tasks
from warpbound.analysis.review import RESOLUTION, resolved_difference


def answers(monkeypatch, first_s, second_s, boards=("h200", "h200"), error=0.0):
    def entry(time_s, gpu):
        sample = SimpleNamespace(sampling_error=error)
        return SimpleNamespace(time_s=time_s, time_interval_s=[0.9 * time_s, 1.1 * time_s], gpu=gpu, sample=sample)

    entries = iter([entry(first_s, boards[0]), entry(second_s, boards[1])])
    monkeypatch.setattr(tasks, "answer", lambda _: next(entries))
    monkeypatch.setattr(tasks, "short", lambda entry: entry)
    return tasks.compare(None, None)


@pytest.mark.parametrize(
    ("second_s", "boards", "error", "decided"),
    [(1 + 1.1 * RESOLUTION, ("h200", "h200"), 0.0, True), (1 + 0.9 * RESOLUTION, ("h200", "h200"), 0.0, False),
     (1 - 1.1 * RESOLUTION, ("h200", "h200"), 0.0, True), (1.05, ("h200", "h200"), 0.03, False),
     (1.05, ("h200", "a40"), 0.0, False), (1.3, ("h200", "a40"), 0.0, True)],
)  # fmt: skip
def test_a_gain_is_decided_as_diff_decides(monkeypatch, second_s, boards, error, decided):
    comparison = answers(monkeypatch, 1.0, second_s, boards, error)
    assert comparison.decided == decided
    assert ("within" in comparison.summary or "overlap" in comparison.summary) != decided


def test_sampling_errors_widen_what_is_resolved():
    assert resolved_difference(None, 0.0) == RESOLUTION
    assert resolved_difference(0.03, 0.04) == pytest.approx((RESOLUTION**2 + 0.06**2 + 0.08**2) ** 0.5)
