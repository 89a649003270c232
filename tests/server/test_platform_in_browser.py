"""Sign-in through a course platform in Chromium: the cookies and the policy of a server with https,
which another site opens in a window and in a frame.
"""

from __future__ import annotations

import datetime
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.x509.oid import NameOID

from grader import lti
from grader.server.web.app import make_app
from grader.server.web.site import Site
from tests.support.browsers import start_chromium
from tests.support.platform import School, make_rsa, open_school
from tests.support.served import make_site, visit

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser


@pytest.fixture
def school() -> Iterator[School]:
    lti.read_keys.cache_clear()
    with open_school() as opened:
        yield opened


@pytest.fixture
def site(school: School, tmp_path: Path) -> Iterator[Site]:
    """A server with https."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"https://localhost:{port}"
    school.launch = f"{url}/lti/launch"
    made = make_site(tmp_path, url=url, platforms=(school.registration,))
    school.tool_keys = visit(made).client.get("/lti/keys").json()
    key, certificate = make_certificate(tmp_path)
    server = uvicorn.Server(
        uvicorn.Config(
            make_app(made),
            port=port,
            log_level="warning",
            ssl_keyfile=key,
            ssl_certfile=certificate,
        )
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    yield made
    server.should_exit = True
    thread.join()


def make_certificate(folder: Path) -> tuple[str, str]:
    """The files of a key and its certificate for this machine."""
    key = make_rsa()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1))
    signed = builder.sign(key, hashes.SHA256())
    pem = serialization.Encoding.PEM
    form = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    files = {"key.pem": key.private_bytes(pem, *form), "cert.pem": signed.public_bytes(pem)}
    for file, content in files.items():
        (folder / file).write_bytes(content)
    return str(folder / "key.pem"), str(folder / "cert.pem")


@pytest.fixture
def page(site: Site) -> Iterator[Page]:
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the extra `browser`")
    with playwright.sync_playwright() as run:
        browser = start_chromium(run)
        opened = browser.new_context(ignore_https_errors=True).new_page()
        opened.set_default_timeout(30_000)
        yield opened
        browser.close()


def test_a_student_opens_an_exercise_from_the_course(
    site: Site, school: School, page: Page
) -> None:
    page.goto(f"{school.address}/course/ada")
    page.get_by_role("button", name="Open").click()
    page.get_by_role("button", name="Confirm").click()
    page.wait_for_url(f"{site.settings.url}/exercises/vector_add")
    page.get_by_text("Name of ada").wait_for()
    page.reload()
    page.get_by_label("Your CUDA code").wait_for()


def test_an_instructor_chooses_an_exercise_in_a_frame_of_the_platform(
    site: Site, school: School, page: Page
) -> None:
    school.opened = school.choosing()
    page.goto(f"{school.address}/course/tim")
    page.get_by_role("button", name="Choose").click()
    frame = page.frame_locator("iframe")
    frame.get_by_role("button", name="Confirm").click()
    with page.expect_request(f"{school.address}/chosen"):
        frame.get_by_role("button", name="Add vector_add to the course").click()
    page.wait_for_timeout(500)
    (answer,) = school.chosen
    assert school.read_choice(answer)["custom"] == {"exercise": "vector_add"}


def test_a_frame_of_the_platform_shows_why_an_exercise_does_not_open_in_it(
    site: Site, school: School, page: Page
) -> None:
    page.goto(f"{school.address}/course/ada")
    page.get_by_role("button", name="Choose").click()
    frame = page.frame_locator("iframe")
    frame.get_by_role("button", name="Confirm").click()
    frame.get_by_text("The instructor selects a new window").wait_for()


def test_no_other_page_is_shown_in_a_frame(site: Site, school: School, page: Page) -> None:
    page.goto(f"{school.address}/course/ada")
    page.evaluate(f"document.querySelector('iframe').src = '{site.settings.url}/sign-in'")
    page.wait_for_timeout(2000)
    assert page.frame_locator("iframe").get_by_role("button", name="Sign in").count() == 0
