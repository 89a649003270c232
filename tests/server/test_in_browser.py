"""A student's and an instructor's hour in Chromium, from the invitation to the export; the pages at
the widths of a large window and a phone, light and dark: axe finds nothing, and nothing is blocked
by the pages' policy.

`PICTURES=DIR` keeps a picture of each step.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page
from tests.support.browsers import start_chromium
from tests.support.served import PASSWORD, make_course

pytestmark = pytest.mark.browser

LOOKS = [(1400, "light"), (1400, "dark"), (400, "light"), (400, "dark")]
VERDICT_MS = 120_000
LECTURE = """// run: --input x=normal:256 --output sum=float32:1 --check
// launch: sum_up<<<1, 256>>>(sum, x)

__global__ void sum_up(float *sum, const float *x)
{
    __shared__ float part[256];
    part[threadIdx.x] = x[threadIdx.x];
    for (int step = 128; step > 0; step /= 2)  // a barrier is missing
        if (threadIdx.x < step)
            part[threadIdx.x] += part[threadIdx.x + step];
    if (threadIdx.x == 0)
        *sum = part[0];
}
"""
"""An instructor shows a race."""
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@dataclass
class Course:
    """A running server, its first invitation, and the console's messages of all pages."""

    url: str
    invitation: str
    browser: Browser
    messages: list[str] = field(default_factory=list)

    def open(self, width: int = 1400, scheme: str = "light") -> Page:
        context = self.browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, accept_downloads=True
        )
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on(
            "console",
            lambda message: self._hear(
                message.type, f"{message.text} {message.location} {page.url}"
            ),
        )
        page.on("pageerror", lambda error: self.messages.append(str(error)))
        return page

    def _hear(self, kind: str, text: str) -> None:
        if kind in ("error", "warning"):
            self.messages.append(text)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Course]:
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the extra `browser`")
    folder = tmp_path_factory.mktemp("served")
    make_course(folder / "course", "transpose")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "grader", "serve", "--course", str(folder / "course")]
    options = ["--data", str(folder / "data"), "--port", str(port)]
    options += ["--playground", "--gpu-quota", "2"]
    with (
        playwright.sync_playwright() as run,
        subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True) as server,
    ):
        assert server.stdout is not None
        lines = [server.stdout.readline() for _ in range(3)]
        browser = start_chromium(run)
        try:
            yield Course(f"http://localhost:{port}", lines[-1].strip(), browser)
        finally:
            browser.close()
            server.terminate()


def choose_password(page: Page, link: str) -> None:
    page.goto(link)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("The same password again").fill(PASSWORD)
    page.get_by_role("button", name="Start").click()


def check_looks(course: Course, page: Page, name: str, *, top: str = "body") -> None:
    """The page in all looks: axe finds nothing, and it is not wider than the window. Pictures start
    at the element `top`."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page.eval_on_selector_all(
        "details:not(.report)", "all => all.forEach(each => { each.open = true; })"
    )
    for width, scheme in LOOKS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.locator(top).evaluate("each => each.scrollIntoView()")
        if folder := os.environ.get("PICTURES"):
            page.screenshot(path=Path(folder) / f"{name}-{width}-{scheme}.png")
        assert page.evaluate(WIDE) <= 0, (name, width)
        violations = axe.run(page).response["violations"]
        assert [
            (name, width, scheme, each["id"], [node["html"][:200] for node in each["nodes"][:3]])
            for each in violations
        ] == []
    page.set_viewport_size({"width": 1400, "height": 900})
    page.emulate_media(color_scheme="light")


def grade(page: Page, source: str, *, button: str = "Grade") -> None:
    """Opens a file in the editor, sends it, and waits for its verdict."""
    file = {"name": "mine.cu", "mimeType": "text/plain", "buffer": source.encode()}
    page.locator("#open").set_input_files(file)  # type: ignore[arg-type]
    page.get_by_text(source.splitlines()[0]).first.wait_for()
    page.evaluate("document.querySelector('#result').replaceChildren()")
    if button:
        page.get_by_role("button", name=button, exact=True).click()
    else:
        page.get_by_label("Your CUDA code").focus()
        page.keyboard.press("Control+Enter")
    page.locator(".verdict").wait_for(timeout=VERDICT_MS)


def test_a_course_from_the_invitation_to_the_export(course: Course) -> None:
    root = Path(__file__).resolve().parents[2]
    starter = (root / "starter" / "transpose.cu").read_text()
    teacher = course.open()
    teacher.goto(course.invitation)
    check_looks(course, teacher, "invitation")
    choose_password(teacher, course.invitation)
    teacher.get_by_role("link", name="Add them").click()
    roster = "Full name,Email\nAda Lovelace,ada@example.org\nAlan Turing,alan@example.org\n"
    teacher.get_by_label("or paste its text").fill(roster)
    teacher.get_by_role("button", name="Add the class").click()
    check_looks(course, teacher, "roster")
    links = re.findall(
        r"http://\S+/invitations/[\w-]+", teacher.locator("table").first.inner_text()
    )
    assert len(links) == 2

    ada = course.open()
    choose_password(ada, links[0])
    check_looks(course, ada, "exercises")
    ada.get_by_role("link", name="Matrix transpose without bank conflicts").click()
    grade(ada, starter.replace("__syncthreads();", "__syncthreads()"))
    assert "compile error" in ada.locator(".verdict").inner_text()
    assert ada.locator(".cm-lint-marker-error").count() == 1
    grade(ada, starter, button="")
    ada.locator("#history summary").click()
    ada.get_by_role("button", name="Load attempt 2").wait_for()
    assert "Result: 40 of 100 points, points lost" in ada.locator("#progress").inner_text()
    assert ada.locator(".points").inner_text().startswith("40 of 100 points")
    ada.get_by_role("button", name="Line 51").click()
    assert ada.locator(".cm-lint-marker-warning").count() >= 1
    check_looks(course, ada, "verdict")
    ada.locator(".report summary").click()
    report = ada.frame_locator("iframe")
    assert report.get_by_role("heading", name="Checks").is_visible()
    grade(ada, starter.replace("tile[TILE][TILE]", "tile[TILE][TILE + 1]"), button="Submit")
    assert "60 more than attempt 2" in ada.locator(".points").inner_text()
    assert "Submitted" in ada.locator("#result").inner_text()
    ada.reload()
    ada.locator(".verdict").wait_for()
    assert "TILE + 1" in ada.locator(".cm-content").inner_text()

    teacher.goto(f"{course.url}/class")
    check_looks(course, teacher, "class")
    teacher.get_by_label("Deadline (UTC)").fill("2020-01-01T12:00")
    teacher.get_by_role("button", name="Save the rules of transpose").click()
    teacher.get_by_role("link", name="Ada Lovelace, transpose").click()
    check_looks(course, teacher, "student")
    teacher.get_by_role("link", name="3: code and verdict").click()
    teacher.get_by_label("Line", exact=True).fill("51")
    teacher.get_by_label("Comment", exact=True).fill("Well padded.")
    teacher.get_by_role("button", name="Add the comment").click()
    teacher.get_by_text("Well padded.").first.wait_for()
    check_looks(course, teacher, "reading")
    teacher.get_by_role("link", name="all attempts and points").click()
    teacher.get_by_label("Points", exact=True).fill("99")
    teacher.get_by_label("Reason, which the student sees").fill(
        "One point for the name of the file."
    )
    teacher.get_by_role("button", name="Set the points").click()
    teacher.get_by_text("99 of 100 points").first.wait_for()

    teacher.goto(f"{course.url}/exercises/any-kernel")
    grade(teacher, LECTURE, button="Run")
    assert "mistakes found" in teacher.locator(".verdict").inner_text()
    assert "race on part" in teacher.locator("#result").inner_text()
    check_looks(course, teacher, "lecture")

    ada.reload()
    ada.get_by_text("Well padded.").first.wait_for()
    assert ada.get_by_role("button", name="Submit", exact=True).is_disabled()
    assert "set your points to 99" in ada.locator(".desk").inner_text()

    teacher.goto(f"{course.url}/class")
    with teacher.expect_download() as download:
        teacher.get_by_role("button", name="Download").click()
    text = Path(download.value.path()).read_text()
    assert "Ada Lovelace,,99" in text
    assert course.messages == []


def test_a_guest_runs_kernels_and_programs_and_shares_them(course: Course) -> None:
    guest = course.open()
    guest.goto(f"{course.url}/playground")
    guest.get_by_role("button", name="Start").click()
    guest.get_by_role("link", name="Any kernel or program").click()
    guest.get_by_role("button", name="Run", exact=True).click()  # the example
    guest.locator(".verdict").wait_for(timeout=VERDICT_MS)
    assert "Result: no mistakes found" in guest.locator("#progress").inner_text()
    assert "global_load_sectors" in guest.locator("#result").inner_text()
    check_looks(course, guest, "any-kernel")
    check_looks(course, guest, "any-kernel-result", top="#progress")
    guest.locator(".report summary").click()
    report = guest.frame_locator("iframe")
    assert report.get_by_role("heading", name="Counters").is_visible()
    link = guest.locator("#result a", has_text="/shared/").get_attribute("href")
    assert link is not None
    program = """__global__ void k(int *x) { x[threadIdx.x] = 1; }
int main() { int *d; cudaMalloc(&d, 64); k<<<1, 16>>>(d); return cudaFree(d); }
"""
    grade(guest, program, button="Run")
    assert "exit code 0" in guest.locator(".verdict").inner_text()
    check_looks(course, guest, "any-program")
    everybody = course.open()
    everybody.goto(link)
    assert "saxpy" in everybody.locator("pre").last.inner_text()
    check_looks(course, everybody, "shared")
    everybody.get_by_role("link", name="Pictures, source with costs").click()
    assert everybody.get_by_role("heading", name="Counters").is_visible()
    assert course.messages == []
