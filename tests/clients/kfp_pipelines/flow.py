"""Pipelines of control flow: conditions, loops, nested pipelines, exit handlers, retries."""
from typing import List, NamedTuple

from kfp import dsl

from .table import case, python


@python
def flip(side: str) -> str:
    return side


@python
def double(value: int) -> int:
    return 2 * value


@python
def total(values: List[int]) -> int:
    return sum(values)


@python
def flat_total(values: List[List[int]]) -> int:
    return sum(sum(row) for row in values)


@python
def text_of(values: list) -> str:
    import json
    return json.dumps(values)


@python
def numbers(n: int) -> List[int]:
    return list(range(n))


@python
def show(a: int, c: int) -> str:
    return f"{a}:{c}"


@python
def broken(text: str = "broken") -> str:
    raise ValueError(text)


@dsl.container_component
def quit(code: int):
    return dsl.ContainerSpec(image="busybox", command=["sh", "-c", "exit $0"], args=[code])


@python
def five(a: str, b: str, c: str, d: str, e: str) -> str:
    import json
    return json.dumps([a, b, c, d, e])


@python
def product(a: int, b: int) -> int:
    return a * b


@python
def plus(a: int, b: int) -> int:
    return a + b


@python
def note(status: dsl.PipelineTaskFinalStatus, text: str = "bye"):
    print(f"{text} {status.state} {status.error_message} {status.pipeline_task_name} {status.pipeline_job_resource_name != ''}")


@python
def despite(text: str = "none"):
    print("despite", text)


@python
def third_time(folder: str) -> int:
    import os
    path = os.path.join(folder, "attempts")
    with open(path, "a") as file:
        file.write("x")
    attempts = os.path.getsize(path)
    if attempts < 3:
        raise SystemExit(4)
    return attempts


@dsl.pipeline(name="coin")
def coin(side: str) -> str:
    with dsl.If(flip(side=side).output == "heads"):
        a = flip(side="won")
    with dsl.Elif(side == "edge"):
        b = flip(side="edge")
    with dsl.Else():
        c = flip(side="lost")
    return dsl.OneOf(a.output, b.output, c.output)


case(arguments={"side": "heads"}, expect={"Output": "won"}, local=False)(coin)


case(arguments={"side": "edge"}, expect={"Output": "edge"}, local=False)(coin)


case(arguments={"side": "tails"}, expect={"Output": "lost"}, local=False)(coin)


@case(expect={"Output": '["a<b", "2.5>=2.5", "true", "7!=8", "text"]'}, local=False)
@dsl.pipeline(name="comparisons")
def comparisons(a: int = 7, b: int = 8, x: float = 2.5, yes: bool = True, name: str = "its \"x\"") -> str:
    with dsl.If(a < b):
        first = flip(side="a<b")
    with dsl.Else():
        first_not = flip(side="-")
    with dsl.If(x >= 2.5):
        second = flip(side="2.5>=2.5")
    with dsl.Else():
        second_not = flip(side="-")
    with dsl.If(yes == True):
        third = flip(side="true")
    with dsl.Else():
        third_not = flip(side="-")
    with dsl.If(a != b):
        fourth = flip(side="7!=8")
    with dsl.Else():
        fourth_not = flip(side="-")
    with dsl.If(name == "its \"x\""):
        fifth = flip(side="text")
    with dsl.Else():
        fifth_not = flip(side="-")
    return five(a=dsl.OneOf(first.output, first_not.output), b=dsl.OneOf(second.output, second_not.output),
                c=dsl.OneOf(third.output, third_not.output), d=dsl.OneOf(fourth.output, fourth_not.output),
                e=dsl.OneOf(fifth.output, fifth_not.output)).output


@case(tasks={"root.condition-1": "SKIPPED", "root.double": "SUCCEEDED"}, local=False)
@dsl.pipeline(name="not-taken")
def not_taken(n: int = 3):
    one = double(value=n)
    with dsl.If(one.output > 6):
        double(value=one.output)


@case(expect={"Output": 12}, local=False)
@dsl.pipeline(name="loop-of-constants")
def loop_of_constants() -> int:
    with dsl.ParallelFor([1, 2, 3]) as item:
        one = double(value=item)
    return total(values=dsl.Collected(one.output)).output


@case(arguments={"n": 5}, expect={"Output": 20}, local=False)
@dsl.pipeline(name="loop-of-an-output")
def loop_of_an_output(n: int = 3) -> int:
    with dsl.ParallelFor(items=numbers(n=n).output, parallelism=2) as item:
        one = double(value=item)
    return total(values=dsl.Collected(one.output)).output


@case(arguments={"items": []}, expect={"Output": 0}, local=False)
@dsl.pipeline(name="loop-of-nothing")
def loop_of_nothing(items: List[int]) -> int:
    with dsl.ParallelFor(items=items) as item:
        one = double(value=item)
    return total(values=dsl.Collected(one.output)).output


@case(expect={"Output": '["0:5", "1:6", "2:7"]'}, local=False)
@dsl.pipeline(name="loop-of-fields")
def loop_of_fields() -> str:
    with dsl.ParallelFor([{"a": 0, "c": 5}, {"a": 1, "c": 6}, {"a": 2, "c": 7}]) as item:
        two = show(a=item.a, c=item.c)
    return text_of(values=dsl.Collected(two.output)).output


@case(expect={"Output": 36}, local=False)
@dsl.pipeline(name="loops-in-loops")
def loops_in_loops() -> int:
    with dsl.ParallelFor([1, 2]) as outer:
        with dsl.ParallelFor([3, 4, 5]) as inner:
            one = product(a=outer, b=inner)
    return flat_total(values=dsl.Collected(one.output)).output


@case(expect={"Output": 168}, local=False)
@dsl.pipeline(name="conditions-in-loops")
def conditions_in_loops() -> int:
    with dsl.ParallelFor([1, 20, 3, 40]) as item:
        with dsl.If(item > 10):
            large = double(value=item)
        with dsl.Else():
            small = double(value=-9)
        chosen = double(value=dsl.OneOf(large.output, small.output))
    return total(values=dsl.Collected(chosen.output)).output


@dsl.pipeline(name="twice-and-one")
def twice_and_one(k: int, more: int = 1) -> NamedTuple("Out", twice=int, plus=int):
    out = NamedTuple("Out", twice=int, plus=int)
    twice = double(value=k)
    return out(twice=twice.output, plus=plus(a=twice.output, b=more).output)


@case(expect={"Output": 18})
@dsl.pipeline(name="nested")
def nested(k: int = 3) -> int:
    first = twice_and_one(k=k)
    second = twice_and_one(k=first.outputs["plus"], more=4)
    return second.outputs["plus"]


@dsl.pipeline(name="looping")
def looping(items: List[int]) -> int:
    with dsl.ParallelFor(items=items) as item:
        one = twice_and_one(k=item)
    return total(values=dsl.Collected(one.outputs["plus"])).output


@case(expect={"Output": 24}, local=False)
@dsl.pipeline(name="nested-loops-of-pipelines")
def nested_loops_of_pipelines() -> int:
    with dsl.ParallelFor([[1, 2], [3, 4]]) as row:
        one = looping(items=row)
    return total(values=dsl.Collected(one.output)).output


@case(logs={"root.note": "done SUCCEEDED None exit-handler-1 True"}, local=False)
@dsl.pipeline(name="exit-after-success")
def exit_after_success(text: str = "done"):
    last = note(text=text)
    with dsl.ExitHandler(last):
        double(value=double(value=2).output)


@case(state="FAILED", logs={"root.note": "bye FAILED"}, tasks={"root.exit-handler-1.double": None, "root.note": "SUCCEEDED"}, local=False)
@dsl.pipeline(name="exit-after-failure")
def exit_after_failure():
    last = note()
    with dsl.ExitHandler(last):
        bad = broken()
        double(value=2).after(bad)


@case(state="FAILED", error="quit", tasks={"root.double": None, "root.double-2": "SUCCEEDED"}, local=False)
@dsl.pipeline(name="one-step-fails")
def one_step_fails():
    bad = quit(code=3)
    double(value=2).after(bad)
    double(value=4)


@case(logs={"root.despite": "despite none"}, state="FAILED", tasks={"root.despite": "SUCCEEDED"}, local=False)
@dsl.pipeline(name="despite-failure")
def despite_failure():
    bad = broken()
    despite(text=bad.output).ignore_upstream_failure()


workspace = dsl.PipelineConfig(workspace=dsl.WorkspaceConfig(size="10Mi", kubernetes=dsl.KubernetesWorkspaceConfig(
    pvcSpecPatch={"accessModes": ["ReadWriteOnce"]})))


@case(expect={"Output": 3}, local=False)
@dsl.pipeline(name="third-time", pipeline_config=workspace)
def retries() -> int:
    one = third_time(folder=dsl.WORKSPACE_PATH_PLACEHOLDER)
    one.set_retry(num_retries=3, backoff_duration="1s", backoff_factor=1.0, backoff_max_duration="2s")
    return one.output


@dsl.pipeline(name="attempting")
def attempting(folder: str) -> int:
    return third_time(folder=folder).output


@case(expect={"Output": 3}, local=False)
@dsl.pipeline(name="retry-of-a-pipeline", pipeline_config=workspace)
def retry_of_a_pipeline() -> int:
    one = attempting(folder=dsl.WORKSPACE_PATH_PLACEHOLDER)
    one.set_retry(num_retries=3, backoff_duration="1s", backoff_factor=1.0)
    return one.output


@case(state="FAILED", local=False)
@dsl.pipeline(name="one-turn-fails")
def one_turn_fails():
    with dsl.ParallelFor([0, 1, 0], parallelism=1) as item:
        quit(code=item)


@case(expect={"Output": 9}, local=False)
@dsl.pipeline(name="order")
def order() -> int:
    first, second = double(value=1), double(value=2)
    third = plus(a=4, b=5).after(first, second).set_display_name("The Third: ünïcode")
    return third.output
