"""The report and its pages: what they show, and that nothing of a submission is more than text."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import resource
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest

from grader.records import BatchEntry, BatchSummary, MetricValue, Source, Status
from grader.report.html import write_report
from grader.report.json import format_score, parse_score
from tests.support.classes import HOSTILE, failed, make_scores, make_summary, timed, write_class
from tests.support.factories import (
    CROOKED_LINES,
    DOUBTFUL,
    HARDLY_KNOWN,
    make_case,
    make_graded,
)

TAGS = """
    html head meta title style body header main footer nav section div p span b i h1 h2 h3 a table thead tbody tr th td br pre ul li dl dt
    code dd details summary svg g path rect text button input select option script
"""
HEAVY_LIMIT_S, HEAVY_LIMIT_MB = 60, 500


class Page(HTMLParser):
    """The tags, attributes and texts of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)


def hostile_class(out: Path) -> BatchSummary:
    """Every text that a student has a hand in is hostile."""
    name = HOSTILE.replace("/", "") + ".cu"
    broken = [
        failed(status, name=name, message=HOSTILE, detail=HOSTILE * 3)
        for status in Status
        if status is not Status.PASSED
    ]
    lines = make_graded(lines=CROOKED_LINES)
    lines = replace(
        lines,
        lines=tuple(replace(line, text=HOSTILE) for line in lines.lines),
        environment={HOSTILE: HOSTILE},
    )
    batch = write_class(
        out, [*broken, lines], [HOSTILE] * 12, source=f"{HOSTILE}\n{HOSTILE}\x00\r\n" * 20
    )
    entries = [
        replace(entry, message=HOSTILE, duplicate_of=HOSTILE, device=HOSTILE)
        for entry in batch.entries
    ]
    entries.append(replace(entries[0], score_path=None, status=None, source_path=None))
    return make_summary(entries)


def test_a_submission_is_text_only(tmp_path: Path) -> None:
    write_report(tmp_path, hostile_class(tmp_path))
    pages = [tmp_path / "report.html", *(tmp_path / "pages").iterdir()]
    assert len(pages) == 11
    for path in pages:
        page = Page(path)
        assert {tag for tag, _ in page.tags} <= set(TAGS.split())
        assert page.count("script") == (path.name == "report.html")
        assert not [
            name
            for _, attributes in page.tags
            for name in attributes
            if name.startswith("on") or name == "style"
        ]
        assert "alert(1)" in page.text
        assert not re.search("[\x00-\x08\x0b-\x1f\u202e]", path.read_text())


def test_the_policy_lets_only_our_own_style_and_script_run(tmp_path: Path) -> None:
    write_report(tmp_path, write_class(tmp_path, make_scores(3)))
    for path in (tmp_path / "report.html", tmp_path / "pages" / "s00000.html"):
        text = path.read_text()
        policy = next(
            a["content"]
            for tag, a in Page(path).tags
            if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy"
        )
        hashes = {
            "sha256-" + base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
            for body in re.findall(r"<(?:style|script)>(.*?)</(?:style|script)>", text, re.DOTALL)
        }
        assert policy is not None
        assert policy.startswith("default-src 'none'; ")
        assert set(re.findall(r"sha256-[^']+", policy)) == hashes
        assert "unsafe" not in policy
        assert not re.search(r"""(?:src|href)=["']?(?:https?:)?//|url\(|@import""", text)


def test_every_link_leads_to_a_page(tmp_path: Path) -> None:
    write_report(tmp_path, write_class(tmp_path, make_scores(5)))
    links = [a["href"] for tag, a in Page(tmp_path / "report.html").tags if tag == "a"]
    assert len(links) == 5
    for link in links:
        assert link is not None
        page = tmp_path / link
        assert (
            page.parent
            / (
                Page(page).tags
                and next(a["href"] or "" for tag, a in Page(page).tags if tag == "a")
            )
        ).resolve() == (tmp_path / "report.html").resolve()


def test_the_page_shows_points_checks_lines_and_findings(tmp_path: Path) -> None:
    scores = [
        make_graded(lines=CROOKED_LINES),
        failed(Status.RUNTIME_ERROR, message="line 11: out of bounds"),
    ]
    write_report(tmp_path, write_class(tmp_path, scores, ["Ada", "Grace"]))
    ada, grace = (Page(tmp_path / "pages" / f"s0000{number}.html") for number in (0, 1))
    for words in (
        "Ada",
        "Bank conflicts",
        "3,100",
        "0 / 25",
        "tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * cols + x];",
    ):
        assert words in ada.text
    marked = [
        a.get("title") for tag, a in ada.tags if tag == "td" and "worse" in (a.get("class") or "")
    ]
    assert "3,200 wavefronts, 100 would do" in marked
    assert "12.5 % of the moved bytes are useful" in marked
    assert {"line 11", "line 9"} <= set(grace.texts)
    assert {a.get("id") for tag, a in grace.tags if tag == "tr" and a.get("class") == "hit"} == {
        "L11",
        "L9",
    }


def test_the_roofline_has_submission_naive_and_reference(tmp_path: Path) -> None:
    plain = make_graded()
    product = timed(plain, 2.75, naive=23.4, reference=2.7, gflops=50000.0)
    traffic = tuple(
        MetricValue("dram_bytes", 4e8, "B", Source.COUNTED) if m.name == "dram_bytes" else m
        for m in product.metrics
    )
    write_report(
        tmp_path,
        write_class(tmp_path, [timed(plain, 0.2), replace(product, metrics=traffic), plain]),
    )
    pages = [Page(tmp_path / "pages" / f"s0000{number}.html") for number in range(3)]
    kinds = [
        [a["class"] for tag, a in page.tags if tag == "path" and "point" in (a.get("class") or "")]
        for page in pages
    ]
    assert sorted(map(str, kinds[0])) == ["point naive", "point reference", "point submission"]
    assert "point submission hollow" in kinds[1]
    assert kinds[2] == []
    assert "Times are measured." in pages[0].text
    assert "the roof is the memory's alone" in pages[0].text
    assert "GFLOP/s" in pages[1].text


def test_modelled_times_say_so(tmp_path: Path) -> None:
    score = timed(make_graded(), 0.2)
    modelled = tuple(
        replace(m, source=Source.MODELLED) if m.source is Source.MEASURED else m
        for m in score.metrics
    )
    write_report(tmp_path, write_class(tmp_path, [replace(score, metrics=modelled, timings=())]))
    page = Page(tmp_path / "pages" / "s00000.html")
    assert "Times are modelled." in page.text
    assert "Not timed" not in page.text
    roofline = page.text.partition("Roofline")[2].partition("Times")[0]
    assert "naive" in roofline
    assert "reference" not in roofline
    assert "ms, modelled" in Page(tmp_path / "report.html").text


def test_the_page_says_why_a_check_was_skipped_and_what_is_in_doubt(tmp_path: Path) -> None:
    wrong = make_graded(cases=(make_case(passed=False),))
    write_report(tmp_path, write_class(tmp_path, [DOUBTFUL, wrong]))
    doubtful, skipped = (Page(tmp_path / "pages" / f"s0000{number}.html") for number in range(2))
    assert (
        "against the goal >= 80 % is too close to call on a model: the benefit of the doubt"
        in doubtful.text
    )
    assert "Correctness must pass first" in skipped.text
    assert "nine of ten such times lie in their intervals" in doubtful.text
    assert "L1 hit rate87.5 %modelled" in doubtful.text
    assert "L2 hit rate25 %modelled" in doubtful.text


def test_the_class_s_table_has_words_for_what_is_in_doubt(tmp_path: Path) -> None:
    write_report(tmp_path, write_class(tmp_path, [DOUBTFUL]))
    page = Page(tmp_path / "report.html")
    remark = "passed: too close to call on a model, the benefit of the doubt"
    assert remark in [a.get("title") for tag, a in page.tags if tag == "td"]
    assert "✓ ≈ passed with the benefit of the doubt" in page.text


def test_the_page_says_that_a_time_is_hardly_known(tmp_path: Path) -> None:
    write_report(tmp_path, write_class(tmp_path, [HARDLY_KNOWN]))
    page = Page(tmp_path / "pages" / "s00000.html")
    assert "– not measured" in page.text
    assert "the model does not know this kind of kernel well: its time" in page.text
    assert "of 100 points, 25 wait for a GPU" in page.text
    report = Page(tmp_path / "report.html").text
    assert "ms, modelled" in report
    assert "75 / 100" in report
    assert "with pending points, without a final grade" in report


def test_a_class_of_nobody_and_one_of_many(tmp_path: Path) -> None:
    write_report(tmp_path, make_summary([]))
    assert "No submissions." in Page(tmp_path / "report.html").text
    write_report(tmp_path, write_class(tmp_path, make_scores(60)))
    page = Page(tmp_path / "report.html")
    assert sum(tag == "tr" and "data-status" in a for tag, a in page.tags) == 60
    assert page.count("svg") == 3 + 4  # points, time, bandwidth, and a bar per check
    assert all(a.get("scope") in ("col", "row") for tag, a in page.tags if tag == "th")


def test_who_has_no_score_is_in_the_table_without_a_page(tmp_path: Path) -> None:
    batch = write_class(tmp_path, make_scores(2))
    lost, missing = (
        batch.entries[0],
        replace(
            batch.entries[1], student="nobody", score_path=None, status=None, message="no .cu file"
        ),
    )
    (tmp_path / str(lost.score_path)).write_text("{")
    write_report(tmp_path, make_summary([lost, missing]))
    page = Page(tmp_path / "report.html")
    assert page.count("a") == 0
    assert "no .cu file" in page.text
    assert not (tmp_path / "pages").exists()


def test_a_score_reads_back_as_it_was_written() -> None:
    for score in [*make_scores(30), timed(make_graded(lines=CROOKED_LINES), 0.2)]:
        text = format_score(score)
        assert json.loads(format_score(parse_score(text))) == json.loads(text)


def test_pages_of_one_name_do_not_replace_each_other(tmp_path: Path) -> None:
    batch = write_class(tmp_path, make_scores(1))
    twin: BatchEntry = replace(batch.entries[0], student="twin")
    write_report(tmp_path, make_summary([batch.entries[0], twin]))
    assert len(list((tmp_path / "pages").iterdir())) == 2


@pytest.mark.slow
def test_ten_thousand_submissions(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, sys.argv[2])\nfrom"
        " report.html.classes import make_scores, write_class\nfrom grader.report.html import"
        " write_report\nimport resource, time\nbatch = write_class(Path(sys.argv[1]),"
        " make_scores(100) * 100)\nstart = time.process_time(); write_report(Path(sys.argv[1]),"
        " batch); print(time.process_time() - start)\n"
    )
    before = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), str(Path(__file__).resolve().parents[2])],
        capture_output=True,
        text=True,
        check=True,
    )
    megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(
        f"{done.stdout.strip()} s of the processor, {time.monotonic() - before:.0f} s with making"
        f" the class, {megabytes:.0f} MB"
    )
    assert float(done.stdout) < HEAVY_LIMIT_S
    assert megabytes < HEAVY_LIMIT_MB


def test_a_wrong_program_has_another_badge_than_one_that_lost_a_few_points(tmp_path: Path) -> None:
    wrong = make_graded(cases=(make_case(), make_case("ragged", passed=False)))
    slow = timed(make_graded(lines=CROOKED_LINES), 0.3)
    write_report(tmp_path, write_class(tmp_path, [wrong, slow], ["Ada", "Ben"]))
    page = Page(tmp_path / "report.html")
    badges = [attrs["class"] for tag, attrs in page.tags if tag == "span" and attrs.get("class")]
    assert [badge for badge in badges if badge and badge.startswith("pill")] == [
        "pill failed",
        "pill partial",
    ]
    assert "wrong outputs" in page.text


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_a_search_ignores_case_and_accents() -> None:
    script = (files("grader") / "report/html/templates/table.js").read_text(encoding="utf-8")
    (plain,) = re.findall(r"^const plain = .*$", script, flags=re.M)
    names = ["Müller", "Mu\u0308ller", "José Núñez", "Søren", "Łukasz", "Groß"]
    shown = f"{plain} console.log(JSON.stringify({json.dumps(names)}.map(plain)))"
    done = subprocess.run(["node", "-e", shown], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [
        *("muller", "muller", "jose nunez", "soren", "lukasz", "gross"),
    ]
