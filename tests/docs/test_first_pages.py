"""The first minutes: the README's commands work in their order, and CI and the container install as
it says."""

from __future__ import annotations

import re

from tests.docs.pages import ROOT
from tests.support.transcripts import read_commands

README = ROOT / "README.md"
SPEC = re.compile(r"install .*?-e '\.\[(\w+(?:,\w+)*)\]'")


def test_readme_activates_the_environment_before_it_calls_grade() -> None:
    calls = [
        part.strip()
        for command in read_commands(README, ("sh",))
        for part in command.text.split("&&")
    ]
    active = calls.index(". .venv/bin/activate")
    assert calls.index("python3 -m venv .venv") < active
    called = [place for place, call in enumerate(calls) if call.startswith(("grade", "python -m"))]
    assert called
    assert min(called) > active
    assert "activate" in README.read_text(encoding="utf-8").partition("## Students")[0]


def test_readme_sets_up_with_a_command_for_the_main_job_and_a_command_for_the_tests() -> None:
    first, second, *_ = (command.text for command in read_commands(README, ("sh",)))
    assert first.endswith("grade exercises/transpose starter/transpose.cu")
    assert second == "pip install -e '.[test]' && python -m pytest"


def test_the_site_and_the_readme_have_the_same_first_command() -> None:
    first = read_commands(README, ("sh",))[0].text
    assert read_commands(ROOT / "docs" / "index.md", ("sh",))[0].text == first


def test_ci_and_the_container_install_what_the_readme_installs() -> None:
    extras = SPEC.search(README.read_text(encoding="utf-8"))
    assert extras is not None
    setup = (ROOT / ".devcontainer" / "setup").read_text(encoding="utf-8")
    assert 'pip install --quiet --disable-pip-version-check -e ".${EXTRAS:-}"' in setup
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert ".devcontainer/setup" in ci
    installed = re.search(r"EXTRAS='\[(.*?)\]'", ci)
    assert installed is not None
    assert set(extras[1].split(",")) <= set(installed[1].split(","))
    for line in ("grade exercises/transpose starter/transpose.cu", "python -m pytest"):
        assert line in ci


def test_the_page_on_modelled_times_states_its_error_first() -> None:
    text = (ROOT / "docs" / "timing-model.md").read_text(encoding="utf-8")
    title, *rows = [line for line in text.splitlines()[2:10] if line]
    assert title == "## How exact is the time?"
    assert "mean error" in rows[0]
    assert re.search(r"H200.*\| \d+\.\d % \| \d+\.\d % \|", rows[2])
