"""Pipelines of corners: features of the SDK where they meet each other."""
from typing import Dict, List, NamedTuple, Optional

from kfp import dsl, kubernetes
from kfp.dsl import Artifact, Dataset, Input, Metrics, Model, Output

from .table import case, python


@python
def text(value: str) -> str:
    return value


@python
def number(value: int) -> int:
    return value


@python
def sum_of(values: List[int]) -> int:
    return sum(values)


@python
def dumped(value: dict = {"a": [1, {"b": "n"}], "c": 1.5}, rows: list = [1, "two", [3.5]], on: bool = True, ratio: float = 0.5) -> str:
    import json
    return json.dumps([value, rows, on, ratio], sort_keys=True)


@python
def texts(values: list) -> str:
    import json
    return json.dumps(values)


@python
def fails(text: str = "no") -> str:
    raise RuntimeError(text)


@python
def given(a: Optional[str] = None, b: Optional[int] = None, c: Optional[dict] = None, d: Optional[List[int]] = None) -> str:
    return repr((a, b, c, d))


@python
def dataset(rows: int, data: Output[Dataset]):
    with open(data.path, "w") as file:
        file.write("row\n" * rows)
    data.metadata["rows"] = rows
    data.metadata["columns"] = ["a", "b"]


@python
def rows_of(data: Input[Dataset]) -> int:
    return open(data.path).read().count("row")


@python
def described(data: Input[Dataset]) -> str:
    import json
    return json.dumps([data.metadata.get("rows"), data.metadata.get("columns"), data.uri.rsplit("/", 1)[-1]])


@python
def rows_in_all(data: Input[List[Dataset]]) -> str:
    return ",".join(str(open(one.path).read().count("row")) for one in data)


@python
def ended(status: dsl.PipelineTaskFinalStatus, words: str):
    print("ended", words, status.state, status.pipeline_task_name)


@dsl.container_component
def shell(line: str):
    return dsl.ContainerSpec(image="busybox", command=["sh", "-ec"], args=[line])


@python
def added(a: int, b: int) -> int:
    return a + b


@python
def joined(name: str, size: str) -> str:
    return f"{name}/{size}"


@python
def despite(words: str = "default"):
    print("despite", words)


@python
def counting() -> str:
    import os
    n = len(os.listdir("/tries"))
    open(f"/tries/{n}", "w").close()
    names = ["first", "second", "third"]
    if n < 2:
        raise RuntimeError(names[n])
    return names[n]


@python
def address(data: Input[Dataset]) -> str:
    return data.uri


@python
def measured(metrics: Output[Metrics], model: Output[Model]) -> NamedTuple("Both", [("accuracy", float), ("names", List[str])]):
    metrics.log_metric("accuracy", 0.75)
    with open(model.path, "w") as file:
        file.write("weights")
    model.framework = "none"
    return (0.75, ["a", "b"])


@python
def used(metrics: Input[Metrics], model: Input[Model], accuracy: float, names: List[str]) -> str:
    return f"{metrics.metadata['accuracy']} {open(model.path).read()} {model.metadata['framework']} {accuracy} {names[1]}"


# Loops, conditions and Collected, in each other.
@case(expect={"Output": 24}, local=False)
@dsl.pipeline(name="conditions-in-nested-loops")
def conditions_in_nested_loops() -> int:
    with dsl.ParallelFor([1, 2]) as a:
        with dsl.ParallelFor([10, 20]) as b:
            with dsl.If(b == 10):
                number(value=a)
        twice = number(value=a)
    with dsl.ParallelFor([4, 8, 9]) as c:
        three = number(value=c)
    first = sum_of(values=dsl.Collected(twice.output))
    second = sum_of(values=dsl.Collected(three.output))
    return added(a=first.output, b=second.output).output


@dsl.pipeline
def chosen(n: int) -> str:
    with dsl.If(n > 1):
        large = text(value="large")
    with dsl.Elif(n == 1):
        one = text(value="one")
    with dsl.Else():
        none = text(value="none")
    return dsl.OneOf(large.output, one.output, none.output)


@case(expect={"Output": '["none", "one", "large"]'})
@dsl.pipeline(name="one-of-in-nested-graphs")
def one_of_in_nested_graphs() -> str:
    with dsl.ParallelFor([0, 1, 2]) as n:
        which = chosen(n=n)
    return texts(values=dsl.Collected(which.output)).output


@case(expect={"Output": "[]"}, local=False)
@dsl.pipeline(name="loop-of-an-empty-list")
def loop_of_an_empty_list(items: List[str] = []) -> str:
    with dsl.ParallelFor(items) as item:
        one = text(value=item)
    return texts(values=dsl.Collected(one.output)).output


@case(expect={"Output": "3,1,2"}, local=False)
@dsl.pipeline(name="collected-datasets")
def collected_datasets() -> str:
    with dsl.ParallelFor([3, 1, 2], parallelism=2) as rows:
        made = dataset(rows=rows)
    return rows_in_all(data=dsl.Collected(made.outputs["data"])).output


@dsl.pipeline
def many() -> List[Dataset]:
    with dsl.ParallelFor([3, 1, 2]) as rows:
        made = dataset(rows=rows)
    return dsl.Collected(made.outputs["data"])


@case(expect={"Output": 6}, local=False)
@dsl.pipeline(name="loop-over-artifacts")
def loop_over_artifacts() -> int:
    with dsl.ParallelFor(many().output) as one:
        counted = rows_of(data=one)
    return sum_of(values=dsl.Collected(counted.output)).output


@case(expect={"Output": '["a/1", "b/2"]'})
@dsl.pipeline(name="loop-of-structs-with-fields")
def loop_of_structs_with_fields(items: List[Dict[str, str]] = [{"label": "a", "size": "1"}, {"label": "b", "size": "2"}]) -> str:
    with dsl.ParallelFor(items) as item:
        one = joined(name=item.label, size=item.size)
    return texts(values=dsl.Collected(one.output)).output


# Exit handlers.
@case(state="FAILED", error="broken on purpose", local=False, tasks={"root.ended": "SUCCEEDED", "root.exit-handler-1.text": "SUCCEEDED"},
      logs={"root.ended": "ended bye FAILED exit-handler-1"})
@dsl.pipeline(name="exit-handler-of-a-failing-loop")
def exit_handler_of_a_failing_loop():
    last = ended(words="bye")
    with dsl.ExitHandler(last):
        text(value="fine")
        with dsl.ParallelFor([1, 2]) as n:
            with dsl.If(n == 2):
                fails(text="broken on purpose")


@case(state="FAILED", error="first", local=False, tasks={"root.ended": "SUCCEEDED", "root.ended-2": "SUCCEEDED"},
      logs={"root.ended": "ended one FAILED", "root.ended-2": "ended two SUCCEEDED"})
@dsl.pipeline(name="two-exit-handlers")
def two_exit_handlers():
    one = ended(words="one")
    with dsl.ExitHandler(one):
        fails(text="first")
    two = ended(words="two")
    with dsl.ExitHandler(two):
        text(value="fine")


@case(state="FAILED", error="the handler", local=False)
@dsl.pipeline(name="an-exit-handler-that-fails")
def an_exit_handler_that_fails():
    last = fails(text="the handler")
    with dsl.ExitHandler(last):
        text(value="fine")


# Failures that are ignored, and retries.
@case(state="FAILED", error="upstream", local=False, tasks={"root.despite": "SUCCEEDED", "root.text": "SUCCEEDED"},
      logs={"root.despite": "despite default"})
@dsl.pipeline(name="ignored-failure-with-a-default")
def ignored_failure_with_a_default():
    upstream = fails(text="upstream")
    after = despite(words=upstream.output).ignore_upstream_failure()
    text(value="goes on").after(after)


@case(expect={"Output": "third"}, local=False, tasks={"root.counting": "SUCCEEDED"})
@dsl.pipeline(name="retries-with-back-off")
def retries_with_back_off() -> str:
    claim = kubernetes.CreatePVC(pvc_name_suffix="-tries", access_modes=["ReadWriteOnce"], size="1Mi", storage_class_name="")
    one = counting().after(claim).set_retry(3, backoff_duration="1s", backoff_factor=1, backoff_max_duration="2s")
    kubernetes.mount_pvc(one, pvc_name=claim.outputs["name"], mount_path="/tries")
    return one.output


# Artifacts: the cache, importers, metadata.
@case(expect={"Output": '[4, ["a", "b"], "data"]'}, caching=True, local=False)
@dsl.pipeline(name="cached-artifacts-first")
def cached_artifacts_first() -> str:
    return described(data=dataset(rows=4).outputs["data"]).output


@case(expect=lambda outputs, run: outputs["Output"].startswith("[null, null") or outputs["Output"].startswith('["7"') or outputs["Output"].startswith("[7"), local=False)
@dsl.pipeline(name="importer-with-metadata")
def importer_with_metadata() -> str:
    made = dataset(rows=2)
    imported = dsl.importer(artifact_uri=address(data=made.outputs["data"]).output, artifact_class=Dataset, reimport=True, metadata={"rows": 7, "columns": ["x"]})
    return described(data=imported.output).output


@case(expect={"Output": 2}, local=False)
@dsl.pipeline(name="importer-in-a-condition")
def importer_in_a_condition() -> int:
    made = dataset(rows=2)
    where = address(data=made.outputs["data"])
    with dsl.If(where.output != ""):
        imported = dsl.importer(artifact_uri=where.output, artifact_class=Dataset, reimport=False)
        counted = rows_of(data=imported.output)
    with dsl.Else():
        none = number(value=0)
    return dsl.OneOf(counted.output, none.output)


@case(expect={"Output": "0.75 weights none 0.75 b"}, local=False)
@dsl.pipeline(name="several-outputs-of-all-kinds")
def several_outputs_of_all_kinds() -> str:
    one = measured()
    return used(metrics=one.outputs["metrics"], model=one.outputs["model"], accuracy=one.outputs["accuracy"], names=one.outputs["names"]).output


# Parameters.
@case(expect={"Output": '[{"a": [1, {"b": "n"}], "c": 1.5}, [1, "two", [3.5]], true, 0.5]'}, local=False)
@dsl.pipeline(name="defaults-of-lists-and-structs")
def defaults_of_lists_and_structs() -> str:
    return dumped().output


@case(arguments={"value": {"x": {"y": []}}, "rows": [], "on": False, "ratio": 2}, expect=lambda outputs, run: outputs["Output"] in (
    '[{"x": {"y": []}}, [], false, 2]', '[{"x": {"y": []}}, [], false, 2.0]'), local=False)
@dsl.pipeline(name="arguments-of-lists-and-structs")
def arguments_of_lists_and_structs(value: dict = {"z": 1}, rows: list = [0], on: bool = True, ratio: float = 1.0) -> str:
    return dumped(value=value, rows=rows, on=on, ratio=ratio).output


@case(expect={"Output": "(None, 3, None, [1])"}, local=False)
@dsl.pipeline(name="optional-inputs-in-part")
def optional_inputs_in_part(b: Optional[int] = 3, c: Optional[dict] = None) -> str:
    return given(b=b, c=c, d=[1]).output


@case(arguments={"words": "{{$.x}} 'q' \"d\" $HOME \\ é\nnew"}, expect={"Output": "{{$.x}} 'q' \"d\" $HOME \\ é\nnew"})
@dsl.pipeline(name="odd-letters")
def odd_letters(words: str) -> str:
    return text(value=words).output


@case(expect={"Output": "x-y 5"}, local=False)
@dsl.pipeline(name="parameters-inside-of-texts")
def parameters_inside_of_texts(a: str = "x") -> str:
    b = text(value="y")
    return text(value=f"{a}-{b.output} {5}").output


# Gangs of loops.
def groups(outputs, run):
    import json, subprocess
    pods = [run["pod"](f"root.for-loop-2[{i}].shell") for i in range(3)]
    names = {pod["metadata"]["annotations"]["scheduling.k8s.io/group-name"] for pod in pods}
    if len(names) != 1:
        return False
    group = json.loads(subprocess.run(["kubectl", "get", "podgroup", names.pop(), "-o", "json"], check=True, capture_output=True, text=True).stdout)
    return group["spec"]["minMember"] == 3 and group["status"]["phase"] in ("Running", "Completed")


@case(expect=groups, local=False)
@dsl.pipeline(name="gang-of-a-loop")
def gang_of_a_loop():
    with dsl.ParallelFor([1, 2, 3]) as n:
        before = number(value=n)
        one = shell(line="true").after(before)
        kubernetes.add_pod_annotation(one, "volcano.sh/loop-gang", "true")


@case(state="FAILED", error="a gang of 3 turns never starts where 2 turns run at once", local=False)
@dsl.pipeline(name="gang-over-the-limit")
def gang_over_the_limit():
    with dsl.ParallelFor([1, 2, 3], parallelism=2) as n:
        one = shell(line="true")
        kubernetes.add_pod_annotation(one, "volcano.sh/loop-gang", "true")
