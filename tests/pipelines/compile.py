"""Pipelines for tests, and what the SDK makes of them. usage: python3 compile.py [FOLDER]   (needs kfp and kfp-kubernetes)
Steps are shell commands, or Python functions that need the SDK in their image."""
import os
import sys
from typing import List, NamedTuple

from kfp import compiler, dsl, kubernetes

python = dsl.component(base_image="python", install_kfp_package=False)


@python
def add(a: int, b: int = 2) -> int:
    return a + b


@python
def make(n: int, data: dsl.Output[dsl.Dataset], metrics: dsl.Output[dsl.Metrics]) -> List[int]:
    with open(data.path, "w") as file:
        file.write("x" * n)
    metrics.log_metric("size", n)
    return list(range(n))


@python
def use(data: dsl.Input[dsl.Dataset]) -> str:
    return open(data.path).read()


@python
def total(values: List[int]) -> int:
    return sum(values)


@python
def count(data: dsl.Input[List[dsl.Dataset]]) -> int:
    return len(data)


@dsl.container_component
def greet(name: str, text: dsl.OutputPath(str)):
    return dsl.ContainerSpec(image="busybox", command=["sh", "-c", 'printf "hello %s" "$0" > "$1"'], args=[name, text])


@dsl.container_component
def say(text: str, more: str = None):
    return dsl.ContainerSpec(
        image="busybox", command=["echo"],
        args=["it says", dsl.ConcatPlaceholder(["<", text, ">"]), dsl.IfPresentPlaceholder("more", ["--more", more], ["alone"])])


@dsl.container_component
def fail():
    return dsl.ContainerSpec(image="busybox", command=["sh", "-c", "exit 3"])


@dsl.container_component
def finish(status: dsl.PipelineTaskFinalStatus, text: str = "bye"):
    return dsl.ContainerSpec(image="busybox", command=["echo"], args=[status, text])


@dsl.pipeline(name="hello-world")
def hello(name: str = "world"):
    say(text=greet(name=name).outputs["text"])


@dsl.pipeline(name="inner")
def inner(k: int) -> int:
    return add(a=k, b=1).output


@dsl.pipeline(name="branches")
def branches(x: int = 3) -> str:
    flip = greet(name="coin")
    with dsl.If(flip.outputs["text"] == "hello coin"):
        heads = greet(name="heads")
        with dsl.If(x > 5):
            say(text="large")
    with dsl.Elif(flip.outputs["text"] == "tails"):
        tails = greet(name="tails")
    with dsl.Else():
        edge = greet(name="edge")
    return dsl.OneOf(heads.outputs["text"], tails.outputs["text"], edge.outputs["text"])


@dsl.pipeline(name="loops")
def loops(items: List[int] = [1, 2, 3]) -> NamedTuple("Outputs", [("sum", int), ("files", int)]):
    with dsl.ParallelFor(items, parallelism=2) as item:
        one = add(a=item, b=10)
        made = make(n=item)
        inner(k=item)
        with dsl.ParallelFor([{"a": 1, "b": "u"}, {"a": 2, "b": "v"}]) as pair:
            add(a=pair.a, b=item)
    summed = total(values=dsl.Collected(one.output))
    counted = count(data=dsl.Collected(made.outputs["data"]))
    outputs = NamedTuple("Outputs", [("sum", int), ("files", int)])
    return outputs(summed.output, counted.output)


@dsl.pipeline(name="exits")
def exits(text: str = "bye", uri: str = "minio://mlpipeline/x/y"):
    with dsl.ExitHandler(finish(text=text)):
        fail().set_retry(2, backoff_duration="1s", backoff_factor=2, backoff_max_duration="60s").set_caching_options(False)
        data = dsl.importer(artifact_uri=uri, artifact_class=dsl.Dataset, metadata={"from": text})
        use(data=data.output).set_cpu_limit("2").set_memory_limit("1G").set_env_variable("A", "b")


@dsl.pipeline(name="claims")
def claims():
    claim = kubernetes.CreatePVC(pvc_name_suffix="-work", access_modes=["ReadWriteOnce"], size="1Gi")
    step = greet(name="volume")
    kubernetes.mount_pvc(step, pvc_name=claim.outputs["name"], mount_path="/data")
    kubernetes.DeletePVC(pvc_name=claim.outputs["name"]).after(step)


@python
def curve(points: int, curve: dsl.Output[dsl.ClassificationMetrics], page: dsl.Output[dsl.HTML], text: dsl.Output[dsl.Markdown], model: dsl.Output[dsl.Model]) -> List[int]:
    curve.log_roc_curve([0.5] * points, [0.25] * points, [0.75] * points)
    curve.log_confusion_matrix(["a", "b"], [[1, 2], [3, 4]])
    for file, words in ((page, "<b>x</b>"), (text, "# x"), (model, "weights")):
        with open(file.path, "w") as out:
            out.write(words)
    model.metadata["framework"] = "none"
    return list(range(points))


@dsl.pipeline(name="artifacts", pipeline_config=dsl.PipelineConfig(workspace=dsl.WorkspaceConfig(size="1Gi")))
def artifacts(points: int = 1000):
    made = curve(points=points)
    with dsl.ParallelFor([1, 2]) as one:
        say(text=f"turn {one} in {dsl.WORKSPACE_PATH_PLACEHOLDER}").after(made)


# Each kind of artifact with content that a stranger could have written, by a step that does without the SDK.
EVIDENCE = """import json, os, sys
inputs = json.loads(sys.argv[1])
made = {name: one["artifacts"][0] for name, one in inputs["outputs"]["artifacts"].items()}
skill = float(inputs["inputs"]["parameterValues"]["skill"])
made["metrics"]["metadata"] = {"accuracy": skill, "<img src=x onerror=alert(1)>": 1 - skill}
made["curve"]["metadata"] = {
    "confidenceMetrics": [{"confidenceThreshold": 1 - x / 10, "falsePositiveRate": x / 10, "recall": (x / 10) ** (1 - skill)} for x in range(11)],
    "confusionMatrix": {"annotationSpecs": [{"displayName": "cat"}, {"displayName": "<b>dog</b>"}], "rows": [{"row": [40, 2]}, {"row": [5, 53]}]}}
texts = {
    "page": "<!doctype html><h1 id=said>a page</h1><script>document.title='ran'; document.getElementById('said').textContent='it ran'; top.location='https://example.org'</script>"
            "<img src=https://example.org/x.png><meta http-equiv=refresh content='0;url=https://example.org'>",
    "text": "# Findings\\n\\nIt is **good**, see [the source](https://example.org/a) or [not](javascript:alert(1)).\\n\\n<script>alert(1)</script>\\n\\n| a | b |\\n|---|---|\\n| 1 | `2` |\\n",
    "table": "name,weight\\n" + "".join(f"row {n},{n}\\n" for n in range(5000))}
for name, text in texts.items():
    path = made[name]["uri"].replace("minio://", "/minio/")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    open(path, "w").write(text)
out = inputs["outputs"]["outputFile"]
os.makedirs(os.path.dirname(out), exist_ok=True)
json.dump({"artifacts": {name: {"artifacts": [one]} for name, one in made.items()}}, open(out, "w"))
"""


@dsl.container_component
def measure(skill: float, metrics: dsl.Output[dsl.Metrics], curve: dsl.Output[dsl.ClassificationMetrics], page: dsl.Output[dsl.HTML],
            text: dsl.Output[dsl.Markdown], table: dsl.Output[dsl.Dataset]):
    return dsl.ContainerSpec(image="python", command=["python3", "-c", EVIDENCE], args=["{{$}}"])


@dsl.pipeline(name="evidence")
def evidence(skill: float = 0.8):
    measure(skill=skill)


@dsl.pipeline(name="platform")
def platform(node: str = "n1"):
    step = greet(name="features")
    kubernetes.use_secret_as_env(step, "keys", {"k": "KEY"})
    kubernetes.use_secret_as_volume(step, "keys", "/keys")
    kubernetes.use_config_map_as_env(step, "words", {"w": "WORD"})
    kubernetes.use_config_map_as_volume(step, "words", "/words", optional=True)
    kubernetes.add_node_selector(step, "kubernetes.io/hostname", "n1")
    kubernetes.add_toleration(step, key="gpu", operator="Exists", effect="NoSchedule")
    kubernetes.add_node_affinity(step, match_expressions=[{"key": "zone", "operator": "In", "values": ["a"]}], weight=5)
    kubernetes.add_pod_label(step, "team", "a")
    kubernetes.add_pod_annotation(step, "scheduling.volcano.sh/queue-name", "q")
    kubernetes.empty_dir_mount(step, "scratch", "/scratch", size_limit="1Gi")
    kubernetes.add_ephemeral_volume(step, "large", "/large", ["ReadWriteOnce"], "1Gi")
    kubernetes.set_timeout(step, 30)
    kubernetes.set_image_pull_policy(step, "Always")
    kubernetes.set_image_pull_secrets(step, ["pull"])
    kubernetes.use_field_path_as_env(step, "NODE", "spec.nodeName")
    kubernetes.set_security_context(step, run_as_user=1000, run_as_non_root=True)
    step.set_accelerator_type("nvidia.com/gpu").set_accelerator_limit(1)


@dsl.container_component
def write(text: str, one: dsl.Output[dsl.Dataset], tree: dsl.Output[dsl.Model]):
    script = 'env; printf "one file" > "$0"; mkdir -p "$1/a b"; printf deep > "$1/a b/c"'
    return dsl.ContainerSpec(image="busybox", command=["sh", "-c", script], args=[one.path, tree.path, text])


@dsl.container_component
def read(one: dsl.Input[dsl.Dataset], tree: dsl.Input[dsl.Model], given: dsl.Input[dsl.Artifact]):
    script = 'printf "%s; a b/c: %s; %s\\n" "$(cat "$0")" "$(cat "$1/a b/c")" "$(cat "$2")"'
    return dsl.ContainerSpec(image="busybox", command=["sh", "-c", script], args=[one.path, tree.path, given.path])


@dsl.pipeline(name="files")
def files(text: str = "x"):
    made = write(text=text)
    given = dsl.importer(artifact_uri="s3://bucket-1/given/one.txt", artifact_class=dsl.Artifact)
    read(one=made.outputs["one"], tree=made.outputs["tree"], given=given.output)


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "compiled")
    for one in (hello, branches, loops, exits, claims, artifacts, evidence, platform, files):
        compiler.Compiler().compile(one, os.path.join(folder, f"{one.name if one.name != 'hello-world' else 'hello'}.yaml"))
