"""Hints name the line, quote the access, and say what the counters show."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.messages.accesses import find_accesses, find_shared_names, quote_access
from grader.messages.cause_rows import CAUSES
from grader.messages.findings import advise, advise_on_findings, describe_place
from grader.messages.hints import Copy, HintFacts, hint_at_misses
from grader.messages.output_advice import OUTPUT_ADVICE
from grader.metrics import METRICS
from grader.records import (
    Bound,
    CheckResult,
    CheckStatus,
    Counters,
    Dim3,
    Failure,
    Finding,
    FindingKind,
    LineCounters,
    Modelled,
    PartResult,
    SourceLine,
    Status,
)
from grader.spec.exercise import CheckSpec, Threshold
from tests.support.factories import (
    CONFLICTS,
    CORRECTNESS,
    CROOKED_LINES,
    STORES,
    make_case,
    make_exercise,
    make_graded,
    make_submission,
)


def hints(**options: object) -> dict[str, str]:
    return {check.name: check.hint for check in make_graded(**options).checks}  # type: ignore[arg-type]


def test_bank_conflicts_name_the_line_and_the_shared_access() -> None:
    hint = hints(lines=CROOKED_LINES)["shared_bank_conflicts"]
    assert hint.startswith(
        "line 11: tile[threadIdx.x][threadIdx.y + j] takes 32 wavefronts where 1 would do. "
    )
    assert "pad the rows" in hint


def test_store_efficiency_names_the_line_and_the_global_access() -> None:
    hint = hints(lines=CROOKED_LINES)["global_store_efficiency"]
    assert hint.startswith(
        "line 11: out[x * rows + y + j] moves 32 sectors a request where 4 would do. "
    )


def test_the_authors_hint_takes_the_place_of_what_to_try() -> None:
    exercise = make_exercise((CORRECTNESS, replace(CONFLICTS, hint="Think of 33.")))
    hint = hints(lines=CROOKED_LINES, exercise=exercise)["shared_bank_conflicts"]
    assert hint.endswith("where 1 would do. Think of 33.")


def test_a_passed_check_has_no_hint() -> None:
    assert set(hints().values()) == {""}


def test_a_conflicting_store_is_told_from_a_load_on_the_same_line() -> None:
    both = Counters(
        shared_load_instructions=10,
        shared_store_instructions=10,
        shared_load_wavefronts=10,
        shared_store_wavefronts=25,
        shared_wavefronts_ideal=20,
    )
    text = "__shared__ float a[32][32], b[32];\na[threadIdx.x][0] = b[threadIdx.x];\n"
    hint = hints(
        lines=(LineCounters(2, both),),
        submission=make_submission(text=text),
        exercise=make_exercise((CORRECTNESS, CONFLICTS)),
    )
    assert hint["shared_bank_conflicts"].startswith(
        "line 2: a[threadIdx.x][0] takes 2.5 wavefronts on average where 1 would do."
    )


def test_conflicts_of_atomics_name_their_line() -> None:
    atomics = Counters(
        shared_atomic_instructions=10, shared_atomic_wavefronts=80, shared_wavefronts_ideal=10
    )
    text = "__shared__ int bins[64];\natomicAdd(&bins[key & 63], 1);\n"
    hint = hints(
        lines=(LineCounters(2, atomics),),
        submission=make_submission(text=text),
        exercise=make_exercise((CORRECTNESS, CONFLICTS)),
    )
    assert hint["shared_bank_conflicts"].startswith(
        "line 2: bins[key & 63] takes 8 wavefronts where 1 would do."
    )


def test_conflicts_of_asynchronous_copies_are_told_in_all() -> None:
    """They are no instructions of shared memory: there is nothing to divide by."""
    copies = Counters(shared_store_wavefronts=80, shared_wavefronts_ideal=20)
    text = "__shared__ float tile[32][32];\ncopy(tile, in);\n"
    hint = hints(
        lines=(LineCounters(2, copies),),
        submission=make_submission(text=text),
        exercise=make_exercise((CORRECTNESS, CONFLICTS)),
    )
    assert hint["shared_bank_conflicts"].startswith(
        "line 2: `copy(tile, in);` takes 80 wavefronts where 20 would do."
    )


def test_conflicts_of_atomics_get_advice_about_atomics() -> None:
    """Padding moves no word to another lane: equal keys still meet."""
    key = Counters(
        shared_atomic_instructions=10, shared_atomic_wavefronts=320, shared_wavefronts_ideal=10
    )
    text = "__shared__ float bins[64];\natomicAdd(&bins[key & 63], 1.0f);\n"
    told = hints(
        lines=(LineCounters(2, key),),
        submission=make_submission(text=text),
        exercise=make_exercise((CORRECTNESS, CONFLICTS)),
    )["shared_bank_conflicts"]
    assert "combine the values of lanes that change the same word" in told
    assert "pad" not in told


def test_conflicts_of_copies_that_count_as_load_instructions_are_an_average() -> None:
    copies = Counters(
        shared_load_instructions=10, shared_store_wavefronts=80, shared_wavefronts_ideal=20
    )
    lines = [SourceLine(2, "copy(tile, in);", copies)]
    told = hint("shared_bank_conflicts", replace(NO_FACTS, lines=lines))
    assert told.startswith("line 2: `copy(tile, in);` takes 8 wavefronts where 2 would do.")


def test_a_column_written_by_atomics_is_named_as_poor_stores() -> None:
    column = Counters(
        global_atomic_requests=10,
        global_atomic_sectors=320,
        global_atomic_sectors_ideal=40,
        global_atomic_bytes=1280,
    )
    text = "atomicExch(&out[x * rows + y], value);"
    hint = hints(
        lines=(LineCounters(1, column),),
        submission=make_submission(text=text),
        exercise=make_exercise((CORRECTNESS, STORES)),
    )
    assert hint["global_store_efficiency"].startswith(
        f"line 1: `{text}` moves 32 sectors a request where 4 would do."
    )
    assert "combine the changes of many threads" in hint["global_store_efficiency"]


def test_a_broadcast_load_is_judged_by_its_bytes() -> None:
    broadcast = Counters(
        global_load_requests=10,
        global_load_sectors=10,
        global_load_sectors_ideal=10,
        global_load_bytes=40,
    )
    check = CheckSpec("loads", "Loads", "global_load_efficiency", 5, Threshold(at_least=0.8))
    hint = hints(
        lines=(LineCounters(1, broadcast),),
        submission=make_submission(text="s += A[row * K + k] * t;"),
        exercise=make_exercise((CORRECTNESS, check)),
    )
    assert hint["loads"].startswith(
        "line 1: A[row * K + k] uses 12.5 % of the bytes that it moves."
    )


def test_correctness_quotes_a_public_case_first() -> None:
    cases = (make_case("primes", passed=False, hidden=True), make_case("ragged", passed=False))
    assert hints(cases=cases)["correctness"].startswith(
        "case ragged: 612 of 37,481 elements of `out` are wrong. "
    )


def test_a_slow_kernel_is_explained_by_its_counters() -> None:
    time_check = CheckSpec("conflicts", "Wavefronts", "shared_wavefronts", 5, Threshold(at_most=10))
    assert (
        "takes 32 wavefronts"
        in hints(lines=CROOKED_LINES, exercise=make_exercise((CORRECTNESS, time_check)))[
            "conflicts"
        ]
    )


@pytest.mark.parametrize("kind", list(FindingKind))
def test_every_finding_has_advice(kind: FindingKind) -> None:
    failure = Failure(
        Status.RUNTIME_ERROR, "line 3: no", findings=(Finding(kind, "line 3: no", line=3),)
    )
    assert advise(failure)
    assert advise(replace(failure, advice="own words")) == "own words"


def test_accesses_of_a_line() -> None:
    accesses = find_accesses("if (a < b) out[x * n + idx[i]] += tile[y] [x]; // c[1] = 2")
    assert [(access.text, access.stored, access.read) for access in accesses] == [
        ("out[x * n + idx[i]]", True, True),
        ("idx[i]", False, True),
        ("tile[y] [x]", False, True),
    ]


@pytest.mark.parametrize(
    ("line", "quoted"),
    [
        ("for (int j = 0; j < 8; j += 2) tile[y + j][x] = in[j];", "tile[y + j][x]"),
        ("tile[y][x] = tile[x][y] == 0 ? in[1] : in[2];", "tile[y][x]"),
        ("*p = 1.0f;  // tile[y][x] = 3", "`*p = 1.0f;`"),
        ("tile[a][b] = 1; tile[b][a] = 2; /* open", "`tile[a][b] = 1; tile[b][a] = 2;`"),
        ("tile[a", "`tile[a`"),
        ("int k = n; tile[k].x = v[k];", "tile[k]"),
        ("x = tile[a] <= tile[b]; tile[c] <<= 1;", "tile[c]"),
        ("x" * 200, f"`{'x' * 86} ...`"),
    ],
)
def test_quotes_the_one_access_or_else_the_line(line: str, quoted: str) -> None:
    assert quote_access(line, shared=True, stored=True, shared_names=frozenset({"tile"})) == quoted


def test_shared_names() -> None:
    source = (
        "extern __shared__ float s[];\n__shared__ __align__(16) float\n a[2][32][33], b [N];\n//"
        " __shared__ int c[3];\nint d[4];"
    )
    assert find_shared_names(source) == {"s", "a", "b"}


def test_stores_alone_do_not_mention_a_line_of_a_header() -> None:
    lines = (LineCounters(None, CROOKED_LINES[1].counters),)
    hint = hints(lines=lines, exercise=make_exercise((CORRECTNESS, STORES)))[
        "global_store_efficiency"
    ]
    assert hint.startswith("Let consecutive threads")


def test_instructions_without_an_active_lane_do_not_lower_the_average() -> None:
    half_idle = Counters(
        shared_load_instructions=20, shared_load_wavefronts=320, shared_wavefronts_ideal=10
    )
    hint = hints(
        lines=(LineCounters(11, half_idle),), exercise=make_exercise((CORRECTNESS, CONFLICTS))
    )["shared_bank_conflicts"]
    assert hint.startswith(
        "line 11: tile[threadIdx.x][threadIdx.y + j] takes 32 wavefronts where 1 would do. "
    )


# --- what else there is to say --------------------------------------------------------------------


NO_FACTS = HintFacts((), (), (), (), (), frozenset())


def hint(metric: str, facts: HintFacts, **fields: str) -> str:
    """What is error_text to a submission that failed a check of the metric."""
    spec = replace(CheckSpec("it", "It", metric, 5, Threshold(at_most=0)), **fields)  # type: ignore[arg-type]
    failed = CheckResult("it", "It", CheckStatus.FAILED, 0, 5, metric, 1, "", "", None, "", hint="")
    (told,) = hint_at_misses([failed], [spec], facts)
    return told.hint


def test_a_metric_that_nothing_was_counted_for_has_advice_alone() -> None:
    for metric, row in METRICS.items():
        assert hint(metric, NO_FACTS) == row.advice
        assert hint(metric, NO_FACTS, hint="Read the handout.") == "Read the handout."


def test_wavefronts_without_a_conflict_name_the_line_that_takes_most() -> None:
    def line(number: int, text: str, wavefronts: int, **excess: int) -> SourceLine:
        counters = Counters(
            shared_load_instructions=10,
            shared_load_wavefronts=wavefronts,
            shared_wavefronts_ideal=excess.get("ideal", wavefronts),
        )
        return SourceLine(number, text, counters)

    lines = [line(4, "sum += tile[k];", 30), line(9, "sum += rows[k];", 10)]
    facts = replace(NO_FACTS, lines=lines, shared_names=frozenset({"tile", "rows"}))
    assert hint("shared_wavefronts", facts).startswith(
        "line 4: tile[k] takes 30 wavefronts, 75 % of all. "
    )
    facts = replace(facts, lines=[*lines, line(9, "sum += rows[k];", 20, ideal=10)])
    assert hint("shared_wavefronts", facts).startswith("line 9: rows[k] takes 2 wavefronts where 1")


def test_the_end_of_a_part_is_told_in_place_of_its_cases() -> None:
    ended = PartResult("in_place", (), Failure(Status.TIMEOUT, "It ran.", advice="End it."))
    facts = replace(NO_FACTS, parts=[ended], cases=[make_case(passed=False)])
    assert hint("correctness", facts, part="in_place") == "It ran. End it."
    dumb = replace(ended, failure=Failure(Status.UNSUPPORTED, "Not known"))
    told = hint("correctness", replace(facts, parts=[dumb]), part="in_place", hint="Ask.")
    assert told == "Not known. Ask."
    assert "612 of 37,481" in hint("correctness", facts)


def test_the_model_says_what_binds_the_longest_launch() -> None:
    short = Modelled(0.1, 0.0, (Bound("DRAM", 0.9, "Move less."),), 1, 1)
    latency = (Bound("latency", 1.0, "Run more warps."), Bound("L2", 0.416, ""))
    long = Modelled(0.2, 0.0, (*latency, Bound("DRAM", 0.2, "")), 1, 1)
    told = hint("time_ms", replace(NO_FACTS, model=[short, long]))
    assert told.startswith("on the model it is bound by latency. Warps wait: ")
    told = hint("time_ms", replace(NO_FACTS, model=[short]))
    assert told == "on the model it is bound by DRAM. Move less."
    told = hint("time_ms", replace(NO_FACTS, model=[short]), hint="Read the handout.")
    assert told == "on the model it is bound by DRAM. Read the handout."
    nothing = replace(NO_FACTS, model=[replace(short, bounds=())])
    assert hint("time_ms", nothing) == hint("time_ms", NO_FACTS)


COLUMN = {"requests": 10, "sectors": 320, "sectors_ideal": 40, "bytes": 1280}
ROW = COLUMN | {"sectors": 40}


def accesses(**directions: dict[str, int]) -> Counters:
    return Counters(
        **{
            f"global_{direction}_{name}": value
            for direction, values in directions.items()
            for name, value in values.items()
        }
    )


@pytest.mark.parametrize(
    ("counters", "words"),
    [
        (accesses(load=COLUMN, store=COLUMN), "out[j] moves 32 sectors a request where 4 would"),
        (accesses(load=COLUMN, store=ROW), "in[i] moves 32 sectors a request where 4 would do"),
        (accesses(load=ROW, store=ROW), ""),
        (
            accesses(load={name: 9 * count for name, count in COLUMN.items()}, store=COLUMN),
            "in[i] moves 32 sectors a request where 4 would do",
        ),
    ],
    ids=["stores first", "loads", "neither", "what costs most"],
)
def test_slowness_is_put_down_to_the_poorest_accesses(counters: Counters, words: str) -> None:
    facts = replace(NO_FACTS, lines=[SourceLine(3, "out[j] = in[i];", counters)])
    told = hint("time_ms", facts)
    assert told.startswith(f"line 3: {words}" if words else METRICS["time_ms"].advice)


def test_a_poorly_read_copy_of_an_input_is_named() -> None:
    line = SourceLine(3, "out[j] = BT[i];", accesses(load=COLUMN))
    facts = replace(NO_FACTS, lines=[line], copies={"BT": Copy("B", "transpose")})
    told = hint("global_load_efficiency", facts)
    assert ". BT is the copy of B that transpose makes, and neighbouring lanes" in told
    scattered = replace(line, counters=accesses(load=COLUMN | {"sectors": 79}))
    assert "is the copy" not in hint("global_load_efficiency", replace(facts, lines=[scattered]))
    assert "is the copy" not in hint("global_load_efficiency", replace(facts, copies={}))


@pytest.mark.parametrize(
    ("metric", "words"),
    [
        ("global_load_sectors", "line 3: in[i] moves 320 sectors, 80 % of all."),
        ("global_store_sectors", "line 3: out[j] moves 40 sectors, 50 % of all."),
        ("instructions_executed", "line 3: `out[j] = in[i];` takes 75 % of all executed instructions."),
    ],
)  # fmt: skip
def test_totals_name_the_line_with_the_largest_share(metric: str, words: str) -> None:
    most = replace(accesses(load=COLUMN, store=ROW), instructions_executed=75)
    least = replace(accesses(load=COLUMN | {"sectors": 80}, store=ROW), instructions_executed=25)
    lines = [SourceLine(3, "out[j] = in[i];", most), SourceLine(4, "out[k] = in[k];", least)]
    assert hint(metric, replace(NO_FACTS, lines=lines)).startswith(words)


def test_the_first_of_several_findings_is_told() -> None:
    first, second = Finding(FindingKind.RACE, "", line=4), Finding(FindingKind.TRAP, "")
    advice = advise(Failure(Status.RUNTIME_ERROR, "", findings=(first,))).removesuffix(".")
    assert advise_on_findings(()) == ""
    assert advise_on_findings((first,)) == f"line 4: {advice}"
    assert advise_on_findings((first, second)) == f"the first of 2 findings: line 4: {advice}"


def test_the_place_of_a_finding_says_what_is_known() -> None:
    seen = Finding(FindingKind.OUT_OF_BOUNDS, "", "k", 3, Dim3(1, 0, 0), Dim3(2, 0, 0), "out", 4096)
    assert describe_place(seen) == "kernel k, block (1, 0, 0), thread (2, 0, 0), out + 4,096 bytes"
    assert (
        describe_place(replace(seen, offset_bytes=None, thread=None)) == "kernel k, block (1, 0, 0)"
    )
    assert describe_place(Finding(FindingKind.TRAP, "")) == ""


# --- each hint is about this kernel ---------------------------------------------------------------


def bound_by(resource: str, counters: Counters, *, threads: int = 0, authors: str = "") -> str:
    """The hint of a slow kernel that the model sees bound by a resource."""
    model = [Modelled(0.1, 0.0, (Bound(resource, 0.9, "The model's own."),), 1, 1)]
    lines = [SourceLine(3, "out[j] = in[i];", counters)]
    facts = replace(NO_FACTS, model=model, lines=lines, threads=threads)
    return hint("time_ms", facts, hint=authors)


ATOMIC = replace(accesses(load=ROW, store=ROW), global_atomic_requests=3)
KEEP_MORE = "Keep more bytes in flight."


def test_atomics_are_spoken_of_where_there_are_some() -> None:
    assert "atomics" not in bound_by("L2 stores", accesses(load=ROW, store=ROW))
    assert "atomics" in bound_by("L2 stores", ATOMIC)


def test_conflicts_are_spoken_of_where_there_are_some() -> None:
    assert "bank conflicts" not in bound_by("load/store unit", accesses(load=ROW, store=ROW))


@pytest.mark.parametrize(
    ("wavefronts", "words"), [(28, KEEP_MORE), (320, "combine the values of lanes")]
)
def test_chance_conflicts_of_atomics_are_not_the_reason_for_a_slow_kernel(
    wavefronts: int, words: str
) -> None:
    """32 lanes at random banks take 3.54 wavefronts on average."""
    counters = replace(
        accesses(load=ROW),
        shared_atomic_instructions=10,
        shared_atomic_wavefronts=wavefronts,
        shared_wavefronts_ideal=10,
    )
    assert words in bound_by("latency", counters, authors=KEEP_MORE)


@pytest.mark.parametrize("authors", ["", KEEP_MORE])
def test_a_kernel_that_loads_several_elements_is_not_asked_for_it(authors: str) -> None:
    one, four = (
        bound_by("latency", accesses(load=ROW, store=ROW), threads=threads, authors=authors)
        for threads in (320, 80)
    )
    assert "in flight" in one
    assert "in flight" not in four
    wider = "Load an int4 per step: more bytes are in flight."
    assert wider in bound_by("latency", accesses(load=ROW), threads=80, authors=wider)
    assert "further ahead" in four


def failed_check(name: str, metric: str) -> CheckResult:
    return CheckResult(
        name, name, CheckStatus.FAILED, 0, 5, metric, 1, "", "", None, "", headline=name.title()
    )


def test_what_one_hint_shows_another_refers_to() -> None:
    specs = [
        CheckSpec(name, name, metric, 5, Threshold(at_most=0), hint=f"Fix {name}.")
        for name, metric in (
            ("speed", "time_ms"),
            ("pace", "bandwidth_gbps"),
            ("stores", "global_store_efficiency"),
        )
    ]
    lines = [SourceLine(3, "out[j] = in[i];", accesses(load=ROW, store=COLUMN))]
    checks = [failed_check(spec.name, spec.metric) for spec in specs]
    told = [check.hint for check in hint_at_misses(checks, specs, replace(NO_FACTS, lines=lines))]
    shown = "line 3: out[j] moves 32 sectors a request where 4 would do. Fix stores."
    assert told == ["See Stores.", "See Speed.", shown]


@pytest.mark.parametrize(
    ("cause", "advice"),
    [
        ("wrong_values", " Mind the edges."),
        ("race", ""),
        ("edge", " Round the grid up (ceil_div),"),
        ("arguments_exchanged", " Give the launch line's arguments in the order"),
        (None, " Mind the edges."),
    ],
)
def test_the_authors_hint_gives_way_to_a_known_cause(cause: str | None, advice: str) -> None:
    case = replace(make_case(passed=False), cause=cause)
    told = hint("correctness", replace(NO_FACTS, cases=[case]), hint="Mind the edges.")
    assert told.startswith(f"case square: 612 of 37,481 elements of `out` are wrong.{advice}")
    assert ("Mind the edges." in told) is (advice == " Mind the edges.")


def test_a_read_of_unwritten_memory_explains_wrong_elements_at_an_edge() -> None:
    case = replace(make_case(passed=False), cause="edge")
    unwritten = Finding(FindingKind.UNINITIALIZED_READ, "tile[0] was not written", line=7)
    facts = replace(NO_FACTS, cases=[case], findings=[unwritten])
    assert hint("correctness", facts, hint="Load the halo.").endswith("Load the halo.")


def test_advice_is_for_causes_that_there_are() -> None:
    assert OUTPUT_ADVICE.keys() <= CAUSES.keys()
