"""The programs that a score needs counted and timed, and the programs that need more rounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.judging.goals import Grounds
from grader.judging.timing import LABELS, NAIVE
from grader.judging.values import Others
from grader.metrics import METRICS, TIMED
from grader.records import SUBMISSION, DeviceInfo, MetricValue
from grader.spec.exercise import Exercise, Yardstick


def find_open(
    exercise: Exercise,
    metrics: Sequence[MetricValue],
    device: DeviceInfo,
    others: Others | None = None,
) -> tuple[str, ...]:
    """The programs whose further measurements may decide an open check; none when no check is
    open."""
    grounds = Grounds(
        exercise, device, {metric.name: metric for metric in metrics}, others=others or {}
    )
    needed = []
    for check in exercise.checks:
        value = grounds.values.get(check.metric)
        if check.metric not in TIMED or value is None or not grounds.goal_of(check).is_open(value):
            continue
        yardstick = check.threshold_on(device).relative_to
        needed.append(SUBMISSION)
        if yardstick is not None:
            needed.append(LABELS[yardstick])
        elif METRICS[check.metric].needs_naive:
            needed.append(NAIVE)
    return tuple(dict.fromkeys(needed))


def find_counted(exercise: Exercise, device: DeviceInfo) -> tuple[Yardstick, ...]:
    """The shipped programs whose counters a check's threshold on this device is relative to."""
    return tuple(dict.fromkeys(_list_yardsticks(exercise, device, timed=False)))


def find_timed(exercise: Exercise, device: DeviceInfo) -> tuple[str, ...]:
    """The labels of the programs whose times a score shows or uses for a judgement: the baseline,
    the comparisons, and other programs that a check is relative to.
    """
    relative = (LABELS[each] for each in _list_yardsticks(exercise, device, timed=True))
    return tuple(dict.fromkeys((NAIVE, *exercise.comparisons, *relative)))


def _list_yardsticks(exercise: Exercise, device: DeviceInfo, *, timed: bool) -> Iterator[Yardstick]:
    """The shipped programs that the goals of timed, or of counted, metrics are relative to."""
    for check in exercise.checks:
        yardstick = check.threshold_on(device).relative_to
        if yardstick is None or (check.metric in TIMED) is not timed:
            continue
        if yardstick is not Yardstick.REFERENCE or exercise.reference_source is not None:
            yield yardstick
