"""Rules of a spec beyond the JSON schema: the sense of an exercise and its parts
(`spec.task_rules`), and of the checks that grade them.

Every function takes parts of the sound copy that `spec.schema` makes: a value has the right form,
or it is None or its field is missing because a mistake was reported there. So no function repeats
an earlier report.
"""

from __future__ import annotations

from collections.abc import Iterator

from grader.cpp.cursor import did_you_mean, quote
from grader.metrics import COMPARABLE, METRICS, Better, sources
from grader.records.devices import DEVICE_KINDS
from grader.records.predictions import PREDICTIONS
from grader.spec.plan_rules import Starter, plan_problems
from grader.spec.schema import Json, Problem, fields, items
from grader.spec.task_rules import formula_problems, task_problems

TAKEN_LABELS = frozenset({"submission", "naive", "reference"})
"""Names of the programs that every exercise has, in timings."""
DEFAULT_MAX_SCORE = 100
_FIELD_OF = {Better.HIGHER: "at_least", Better.LOWER: "at_most"}


def semantic_problems(spec: Json, starter: Starter | None) -> Iterator[Problem]:
    """All mistakes of the sound parts of a spec. Without a starter, names in plans are not
    checked."""
    yield from task_problems(spec, "$", starter, is_part=False)
    plans = {"baseline_plan": fields(spec, "baseline_plan")}
    plans |= {f"comparisons.{name}": plan for name, plan in fields(spec, "comparisons").items()}
    for field, plan in plans.items():
        if (name := field.removeprefix("comparisons.")) in TAKEN_LABELS:
            message = f"timings call another program {quote(name)}: give this one another name"
            yield Problem(f"$.{field}", message)
        yield from plan_problems(plan or {}, f"$.{field}", spec, starter, of_starter=True)
    for field in ("useful_bytes", "useful_flops"):
        yield from formula_problems(f"$.{field}", spec.get(field), spec, "$")
    judged = {check.get("part") for _, check in items(spec, "checks")}
    all_known = None not in (spec.get("checks") or [None])
    for name, part in fields(spec, "parts").items():
        yield from task_problems(part or {}, f"$.parts.{name}", starter, is_part=True)
        if name not in judged and all_known:
            message = f"add one of correctness with the part {quote(name)}"
            yield Problem(f"$.parts.{name}", f"no check judges this part: {message}")
    for index, check in items(spec, "checks"):
        yield from _kernel_problems(f"$.checks[{index}]", check)
    yield from check_problems(spec)


def check_problems(spec: Json) -> Iterator[Problem]:
    """All mistakes of the checks, for exercises of both kinds."""
    yield from _check_problems(spec)
    yield from _device_problems(spec)
    yield from _points_problems(spec)
    yield from _question_problems(spec)


def _question_problems(spec: Json) -> Iterator[Problem]:
    """Questions about unknown metrics, or twice about the same; points without a question."""
    asked = [question.get("metric") for _, question in items(spec, "predictions")]
    for index, metric in enumerate(asked):
        path = f"$.predictions[{index}].metric"
        if metric is not None and (metric not in METRICS or metric == PREDICTIONS):
            near = did_you_mean(metric, METRICS)
            yield Problem(path, f"there is no metric {quote(metric)} to predict{near}")
        elif metric in asked[:index]:
            yield Problem(path, f"there are two questions about {metric}")
    for index, check in items(spec, "checks"):
        if check.get("metric") == PREDICTIONS and not asked:
            message = "the spec has no predictions: add the questions"
            yield Problem(f"$.checks[{index}].metric", message)


def _kernel_problems(path: str, check: Json) -> Iterator[Problem]:
    """Metrics and fields of programs in an exercise that grades kernels."""
    metric = check.get("metric")
    if metric in METRICS and METRICS[metric].program is not None and METRICS[metric].time is None:
        yield Problem(f"{path}.metric", f"{metric} is for exercises that grade programs")
    if "kernel" in check:
        yield Problem(f"{path}.kernel", "this field is for exercises that grade programs")


# --- checks ---------------------------------------------------------------------------------------


def _check_problems(spec: Json) -> Iterator[Problem]:
    names = [check and check.get("name", check.get("metric")) for check in spec.get("checks") or []]
    for index, check in items(spec, "checks"):
        path = f"$.checks[{index}]"
        metric = check.get("metric")
        if index == 0 and metric not in ("correctness", None):
            message = f"the first check must be correctness, not {quote(metric)}"
            yield Problem(f"{path}.metric", message)
        if index == 0 and "part" in check:
            yield Problem(
                f"{path}.part",
                "the first check must be the correctness of the exercise itself: leave part out",
            )
        if names[index] is not None and names[index] in names[:index]:
            field = "name" if "name" in check else "metric"
            yield Problem(
                f"{path}.{field}",
                f"there are two checks of the name {quote(names[index])}; give this one a name of"
                " its own",
            )
        if metric is not None and METRICS[metric].needs_flops and "useful_flops" not in spec:
            message = f"{metric} needs the formula useful_flops, which this spec leaves out"
            yield Problem(f"{path}.metric", message)
        yield from _part_problems(path, check, spec)
        yield from _threshold_problems(path, check, metric)
        for gpu, override in fields(check, "overrides").items():
            yield from _threshold_problems(
                f"{path}.overrides.{gpu}", override or {"at_least": None}, metric
            )
        yield from _requires_problems(f"{path}.requires", check, names, index)


def _device_problems(spec: Json) -> Iterator[Problem]:
    """Checks that no kind of device can judge: none has the metric, and judges all checks that the
    check requires."""
    surfaces = any("surface" in buffer for _, buffer in items(spec, "buffers"))
    bound = frozenset({"emulated"}) if surfaces else frozenset(DEVICE_KINDS)
    judges: dict[str | None, frozenset[str]] = {}
    for index, check in items(spec, "checks"):
        metric = check.get("metric")
        if metric not in METRICS:
            continue
        kinds = bound & sources(METRICS[metric]).keys() - set(check.get("excluded_on") or [])
        required = [judges.get(name) for name in check.get("requires") or []]
        possible = kinds.intersection(*filter(None, required))
        judges[check.get("name", metric)] = possible
        if not possible:
            having = " and ".join(sorted(sources(METRICS[metric])))
            reason = " (a GPU binds no surfaces)" if surfaces else ""
            yield Problem(
                f"$.checks[{index}]",
                f"no device can judge this check: {metric} exists on {having}{reason}, excluded_on"
                " and requires leave none of these",
            )


def _part_problems(path: str, check: Json, spec: Json) -> Iterator[Problem]:
    part, parts = check.get("part"), fields(spec, "parts")
    if part is None:
        return
    if part not in parts:
        hint = did_you_mean(part, parts) or (
            f"; the parts are {', '.join(parts)}" if parts else ": this spec has no parts"
        )
        yield Problem(f"{path}.part", f"there is no part {quote(part)}{hint}")
    if check.get("metric") not in ("correctness", None):
        message = f"a part is judged for its correctness only, not for {check['metric']}"
        yield Problem(f"{path}.metric", message)


def _threshold_problems(path: str, threshold: Json, metric: str | None) -> Iterator[Problem]:
    yield from _relative_problems(path, threshold, metric)
    given = [field for field in ("at_least", "at_most") if field in threshold]
    if len(given) != 1:
        yield Problem(path, "give either at_least or at_most" + (", not both" if given else ""))
        return
    field = given[0]
    if metric in METRICS and field != (wanted := _FIELD_OF[METRICS[metric].better]):
        message = f"{metric} is better when it is {METRICS[metric].better}: use {wanted}"
        yield Problem(f"{path}.{field}", message)
    full, zero = threshold[field], threshold.get("zero_at")
    if full is None or zero is None:
        return
    if not (zero < full if field == "at_least" else zero > full):
        side = "below" if field == "at_least" else "above"
        message = f"partial credit runs backwards: {zero} must lie {side} {field} ({full})"
        yield Problem(f"{path}.zero_at", message)


def _relative_problems(path: str, threshold: Json, metric: str | None) -> Iterator[Problem]:
    if threshold.get("relative_to") is None:
        return
    if metric in METRICS and metric not in COMPARABLE:
        message = f"{metric} is nothing that another program has too: leave relative_to out"
        yield Problem(f"{path}.relative_to", message)
    for field in ("at_least", "at_most"):
        if (figure := threshold.get(field)) is not None and figure <= 0:
            yield Problem(
                f"{path}.{field}",
                f"must be more than 0 where it is a multiple, got {figure}: or leave"
                " relative_to out",
            )


def _points_problems(spec: Json) -> Iterator[Problem]:
    """The points of the checks must add up to max_score, so that a mistyped figure is seen."""
    wanted = spec.get("max_score", DEFAULT_MAX_SCORE)
    checks = spec.get("checks") or [None]
    if wanted is None or any(check is None or check.get("points") is None for check in checks):
        return
    total = round(sum(check["points"] for check in checks if not check.get("bonus")), 6)
    if total != wanted:
        hint = (
            "correct them"
            if "max_score" in spec
            else f"correct them, or give max_score ({total:g})"
        )
        yield Problem(
            "$.checks",
            f"the points of the checks that are no bonus add up to {total:g}, not to {wanted:g}:"
            f" {hint}",
        )


def _requires_problems(
    path: str, check: Json, names: list[str | None], position: int
) -> Iterator[Problem]:
    for index, required in enumerate(check.get("requires") or []):
        if required is None or required in names[:position]:
            continue
        if required == names[position]:
            yield Problem(f"{path}[{index}]", "a check cannot require itself")
        elif required in names:
            message = f"{quote(required)} comes later: a check can only require earlier ones"
            yield Problem(f"{path}[{index}]", message)
        elif None not in names or required not in METRICS:
            yield Problem(
                f"{path}[{index}]",
                f"there is no check {quote(required)}{did_you_mean(required, filter(None, names))}",
            )
