"""The table of the pipelines: each with its arguments, and what its definition says about its outputs, its end and its tasks."""
from dataclasses import dataclass, field
from typing import Any, Callable, Optional, Union

from kfp import dsl

python = dsl.component(base_image="python", install_kfp_package=False)


@dataclass
class Case:
    pipeline: Any
    name: str
    arguments: dict = field(default_factory=dict)
    expect: Union[dict, Callable, None] = None  # outputs of the pipeline, or a function from them and the run to a truth
    state: str = "SUCCEEDED"
    error: str = ""  # words of the run's error
    refused: str = ""  # words of the refusal of a run that is never made
    tasks: dict = field(default_factory=dict)  # state of tasks by path
    logs: dict = field(default_factory=dict)  # words in the log of tasks by path
    local: bool = True  # the SDK's own runner on this machine can run it
    caching: Optional[bool] = False
    before: str = ""  # manifests that are created first


cases = []


def case(**options):
    def add(pipeline):
        cases.append(Case(pipeline=pipeline, name=pipeline.name, **options))
        return pipeline
    return add
