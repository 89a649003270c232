"""Puts the exercises into the wheel and the source distribution, without their references and
hidden cases; all else about the package is in pyproject.toml."""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from grader.folders import PACKAGED  # noqa: E402 - found by the line above
from grader.spec.public import public_exercises  # noqa: E402


class BuildWithExercises(build_py):
    """An editable install finds the exercises where they lie."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        for name, content in public_exercises(ROOT).items():
            path = Path(self.build_lib) / "grader" / PACKAGED / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


class PackPublicExercises(sdist):
    """MANIFEST.in leaves the exercises out: their public files are written here."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        for name, content in public_exercises(ROOT).items():
            path = Path(base_dir) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


setup(cmdclass={"build_py": BuildWithExercises, "sdist": PackPublicExercises})
