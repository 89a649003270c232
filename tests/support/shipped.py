"""Machine code of the files that tests grade and run, shipped so that a run need not compile them.

`tests/data/compiled.xz` holds what nvcc and nvdisasm made of each file, under the SHA-256 of its
text, and what nvdisasm says of the corpus's recorded cubins at -O3, under theirs. A run's cache
begins with what suits the files, the options and the tools as they are now; all else (a new file, a
changed one, another nvcc) is compiled as ever. The sources that tests make up are there under the
cache's own keys, which hold for one g++ as well. Tests of the toolchain compile what they look at.

    python -m tests.support.shipped
        brings it up to date: compiles what is missing, drops what no file needs
    python -m pytest --keep-compiled
        puts in what the run compiles besides, in place of what an earlier one did
    python -m pytest --keep-compiled tests/emulator/test_clusters.py
        puts in what these tests compile besides
"""

from __future__ import annotations

import base64
import hashlib
import json
import lzma
import os
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from grader.grading.tools import find_toolchain
from grader.plumbing.cache import default_cache
from grader.records import Binary, Submission, ToolLimits
from grader.submission.lookups import check_lookups
from grader.submission.source_file import read_submission
from grader.toolchain.artifacts import (
    Artifacts,
    keep_artifacts,
    parse_artifacts,
    read_artifacts,
)
from grader.toolchain.compilation import artifacts_keys, find_kept
from grader.toolchain.compile import compile_submission, list_cubin, listing_key
from grader.toolchain.workspace import compile_options
from tests.support.compiling import DEFAULT_LEVEL, find_tools
from tests.support.corpus_record import read_record

ROOT = Path(__file__).resolve().parents[2]
ARCHIVE = ROOT / "tests" / "data" / "compiled.xz"
FOLDERS = (
    "solutions",
    "starter",
    "tests/by_authors",
    "tests/submissions",
    "tests/data/bad_input",
    "tests/data/planted_bugs",
    "tests/data/truth/kernels",
    "grader/explore/gallery",
)
ARCH = "sm_90"
KINDS = ("artifacts", "listings", "others")


@dataclass(frozen=True)
class Shipped:
    """All that is shipped, with the tools' versions and options: by the SHA-256 of texts, by that
    of cubins, by cache keys."""

    nvcc: str
    nvdisasm: str
    options: tuple[str, ...]
    artifacts: Mapping[str, Artifacts]
    listings: Mapping[str, Artifacts]
    others: Mapping[str, Artifacts]


def find_sources() -> tuple[Submission, ...]:
    """Every file that may be shipped compiled, each text once."""
    paths = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.cu"))
    texts = (source for source in map(read_submission, paths) if isinstance(source, Submission))
    return tuple({source.text: source for source in texts}.values())


def read_shipped(archive: Path = ARCHIVE) -> Shipped:
    """What an archive holds."""
    data = json.loads(lzma.decompress(archive.read_bytes()))
    kinds = (
        {sha256: parse_artifacts(entry) for sha256, entry in data[kind].items()} for kind in KINDS
    )
    return Shipped(data["nvcc"], data["nvdisasm"], tuple(data["options"]), *kinds)


def write_shipped(shipped: Shipped, archive: Path = ARCHIVE) -> None:
    """Write an archive; equal contents give equal bytes."""
    data = asdict(shipped)
    for kind in KINDS:
        entries = sorted(data[kind].items())
        data[kind] = {
            key: entry | {"cubin": base64.b64encode(entry["cubin"]).decode()}
            for key, entry in entries
        }
    archive.write_bytes(lzma.compress(json.dumps(data, indent=0).encode(), preset=9))


def fill_cache(folder: Path, shipped: Shipped) -> int:
    """Write to a cache what is right for the files, options and tools as they are now; returns how
    many entries."""
    nvcc, nvdisasm = find_tools()
    if shipped.nvdisasm != nvdisasm.version:
        return 0
    for listing in shipped.listings.values():
        keep_artifacts(folder, listing_key(listing.cubin, nvdisasm), listing)
    if (shipped.nvcc, shipped.options) != (nvcc.version, compile_options(ARCH)):
        return len(shipped.listings)
    fitting = [source for source in find_sources() if text_digest(source) in shipped.artifacts]
    for source in fitting:
        of_text, _ = artifacts_keys(source.text, nvcc, nvdisasm, ARCH)
        keep_artifacts(folder, of_text, shipped.artifacts[text_digest(source)])
    for key, other in shipped.others.items():
        keep_artifacts(folder, key, other)
    return len(shipped.listings) + len(fitting) + len(shipped.others)


def text_digest(source: Submission) -> str:
    """The SHA-256 of the text, which the compiler sees, and not of the file."""
    return hashlib.sha256(source.text.encode()).hexdigest()


def keep_others(cache: Path) -> None:
    """Ship what a run's cache holds beside the files: the run began without what earlier ones had
    kept."""
    shipped, (nvcc, nvdisasm) = read_shipped(), find_tools()
    own = {
        key
        for source in find_sources()
        for key in artifacts_keys(source.text, nvcc, nvdisasm, ARCH)
    }
    own |= {listing_key(listing.cubin, nvdisasm) for listing in shipped.listings.values()}
    found = {
        path.name: read_artifacts(cache, path.name)
        for path in sorted(cache.iterdir())
        if path.is_file() and path.name not in own
    }
    write_shipped(
        replace(shipped, others={key: each for key, each in found.items() if each is not None})
    )


def make_shipped(cache: Path, others: Mapping[str, Artifacts]) -> Shipped:
    """Compile every source that compiles, as far as the cache does not hold it; isolated, for some
    sources are attacks."""
    tools = find_toolchain(prefer_wheel=True, cache=cache)
    nvcc, nvdisasm = tools.nvcc, tools.nvdisasm

    def make(source: Submission) -> Artifacts | None:
        made = check_lookups(source.text) or compile_submission(
            source,
            nvcc=nvcc,
            nvdisasm=nvdisasm,
            arch=ARCH,
            run=tools.run,
            limits=ToolLimits(),
            cache=cache,
        )
        keys = artifacts_keys(source.text, nvcc, nvdisasm, ARCH)
        return find_kept(cache, keys) if isinstance(made, Binary) else None

    def list_(cubin: bytes) -> tuple[str, Artifacts]:
        listing = list_cubin(cubin, nvdisasm=nvdisasm, arch=ARCH, run=tools.run, cache=cache)
        return hashlib.sha256(cubin).hexdigest(), listing

    sources = find_sources()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        made = zip(map(text_digest, sources), pool.map(make, sources), strict=True)
        artifacts = {sha256: each for sha256, each in made if each is not None}
        listings = dict(pool.map(list_, recorded_cubins()))
    return Shipped(
        nvcc.version, nvdisasm.version, compile_options(ARCH), artifacts, listings, others
    )


def recorded_cubins() -> tuple[bytes, ...]:
    """The corpus's machine code that an H100 ran, of the level that tests run most."""
    cases = read_record().cases.items()
    return tuple(
        {case.compiled.cubin: None for name, case in cases if name.endswith(f"-O{DEFAULT_LEVEL}")}
    )


def main() -> int:
    cache = default_cache(os.environ)
    others: Mapping[str, Artifacts] = {}
    if ARCHIVE.exists():
        known = read_shipped()
        fill_cache(cache, known)
        others = known.others if known.nvcc == find_tools()[0].version else {}
    shipped = make_shipped(cache, others)
    write_shipped(shipped)
    print(
        f"{len(shipped.artifacts)} files, {len(shipped.listings)} cubins, {len(shipped.others)}"
        f" others, {ARCHIVE.stat().st_size:,} bytes"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
