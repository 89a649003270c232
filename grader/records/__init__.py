"""The nouns that cross a stage: frozen dataclasses and the closed sets that they use.

Everything that one stage hands to the next, or that the worker process sends over its pipe, is
here. Arrays travel beside these records (in dicts keyed by buffer name), never inside them, but for
`KernelRun`, which is handed to whoever asked for it.
"""

from grader.records.accesses import *
from grader.records.class_results import *
from grader.records.code import *
from grader.records.counters import *
from grader.records.devices import *
from grader.records.facts import *
from grader.records.grades import *
from grader.records.launched import *
from grader.records.likeness import *
from grader.records.metric_row import *
from grader.records.options import *
from grader.records.outcomes import *
from grader.records.predictions import *
from grader.records.programs import *
from grader.records.requests import *
from grader.records.runs import *
from grader.records.scores import *
from grader.records.source_facts import *
from grader.records.tooling import *
from grader.records.warp_cycles import *
from grader.records.what_if import *
from grader.statuses import CheckStatus as CheckStatus
from grader.statuses import Status as Status
