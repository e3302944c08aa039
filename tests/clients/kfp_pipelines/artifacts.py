"""Pipelines of artifacts: datasets, models, metrics, pages, lists of them, importers."""
from typing import List

from kfp import dsl

from .table import case, python


@python
def data_of(n: int, data: dsl.Output[dsl.Dataset]):
    with open(data.path, "w") as file:
        file.write("".join(f"{i},{2 * i + 1}\n" for i in range(n)))
    data.metadata["rows"] = n
    data.metadata["columns"] = ["x", "y"]


@python
def train(data: dsl.Input[dsl.Dataset], model: dsl.Output[dsl.Model], metrics: dsl.Output[dsl.Metrics], steps: int = 400) -> float:
    import json
    rows = [tuple(map(float, line.split(","))) for line in open(data.path)]
    a = b = 0.0
    for _ in range(steps):
        for x, y in rows:
            error = a * x + b - y
            a -= 0.02 * error * x
            b -= 0.02 * error
    with open(model.path, "w") as file:
        json.dump([a, b], file)
    model.metadata["framework"] = "none"
    metrics.log_metric("rows", len(rows))
    metrics.log_metric("loss", 0.25)
    return round(a, 3)


@python
def predict(model: dsl.Input[dsl.Model], x: float) -> float:
    import json
    a, b = json.load(open(model.path))
    assert model.metadata["framework"] == "none", model.metadata
    return round(a * x + b, 2)


@python
def lines_of(data: dsl.Input[dsl.Dataset]) -> str:
    import os
    return f"{len(open(data.path).readlines())} {data.metadata['rows']} {data.metadata['columns']} {os.path.basename(data.path)} {data.name != ''}"


@python
def folder_of(folder: dsl.Output[dsl.Artifact]):
    import os
    os.makedirs(os.path.join(folder.path, "deep", "er"))
    with open(os.path.join(folder.path, "deep", "er", "file"), "wb") as file:
        file.write(bytes(range(256)) * 100)


@python
def files_in(folder: dsl.Input[dsl.Artifact]) -> int:
    import os
    return sum(os.path.getsize(os.path.join(base, name)) for base, _, names in os.walk(folder.path) for name in names)


@python
def pages(page: dsl.Output[dsl.HTML], text: dsl.Output[dsl.Markdown], curve: dsl.Output[dsl.ClassificationMetrics]):
    with open(page.path, "w") as file:
        file.write("<h1>hello</h1><script>alert(1)</script>")
    with open(text.path, "w") as file:
        file.write("# hello\n\n* a\n* b\n")
    curve.log_roc_curve([0.0, 0.5, 1.0], [0.0, 0.8, 1.0], [1.0, 0.5, 0.0])
    curve.log_confusion_matrix(["cat", "dog"], [[9, 1], [2, 8]])


@python
def size_of_page(page: dsl.Input[dsl.HTML], text: dsl.Input[dsl.Markdown], curve: dsl.Input[dsl.ClassificationMetrics]) -> int:
    assert curve.metadata["confusionMatrix"]["annotationSpecs"][1]["displayName"] == "dog", curve.metadata
    return len(open(page.path).read())


@python
def rows_of(files: dsl.Input[List[dsl.Dataset]]) -> str:
    return ",".join(str(len(open(one.path).readlines())) for one in files)


@python
def first_word(text: str) -> str:
    return text.split()[0]


@python
def where(data: dsl.Input[dsl.Dataset]) -> str:
    return data.uri


@python
def returned(n: int) -> dsl.Dataset:
    one = dsl.Dataset(uri=dsl.get_uri())
    with open(one.path, "w") as file:
        file.write("a\n" * n)
    one.metadata["rows"] = n
    one.metadata["columns"] = []
    return one


@python
def without_name(text: str) -> str:
    words = text.split()
    return " ".join(words[:3] + words[4:])


@python
def optional_data(data: dsl.Input[dsl.Dataset] = None) -> str:
    return "none" if data is None else "some"


@case(expect={"Output": 21.0})
@dsl.pipeline(name="train-and-predict")
def train_and_predict(x: float = 10.0) -> float:
    data = data_of(n=5)
    model = train(data=data.outputs["data"])
    return predict(model=model.outputs["model"], x=x).output


@case(expect={"Output": "4 4 ['x', 'y'] data True"}, local=False)
@dsl.pipeline(name="metadata")
def metadata() -> str:
    return lines_of(data=data_of(n=4).outputs["data"]).output


@case(expect={"Output": 25600})
@dsl.pipeline(name="folders")
def folders() -> int:
    return files_in(folder=folder_of().outputs["folder"]).output


@case(tasks={"root.pages": "SUCCEEDED", "root.size-of-page": "SUCCEEDED"})
@dsl.pipeline(name="pages")
def pages_and_curves() -> int:
    one = pages()
    return size_of_page(page=one.outputs["page"], text=one.outputs["text"], curve=one.outputs["curve"]).output


@dsl.pipeline(name="make-data")
def make_data(n: int) -> dsl.Dataset:
    return data_of(n=n).outputs["data"]


@dsl.pipeline(name="use-data")
def use_data(data: dsl.Input[dsl.Dataset]) -> str:
    return lines_of(data=data).output


@case(expect={"Output": "6 6 ['x', 'y'] data True"}, local=False)
@dsl.pipeline(name="artifacts-of-pipelines")
def artifacts_of_pipelines() -> str:
    return use_data(data=make_data(n=6).output).output


@case(expect={"Output": "1,3,2"}, local=False)
@dsl.pipeline(name="collected-artifacts")
def collected_artifacts() -> str:
    with dsl.ParallelFor([1, 3, 2]) as n:
        one = data_of(n=n)
    return rows_of(files=dsl.Collected(one.outputs["data"])).output


@dsl.pipeline(name="many-data")
def many_data(counts: List[int]) -> List[dsl.Dataset]:
    with dsl.ParallelFor(counts) as n:
        one = data_of(n=n)
    return dsl.Collected(one.outputs["data"])


@case(expect={"Output": "4,5"}, local=False)
@dsl.pipeline(name="lists-of-pipelines")
def lists_of_pipelines() -> str:
    return rows_of(files=many_data(counts=[4, 5]).output).output


@case(expect={"Output": "2"}, local=False)
@dsl.pipeline(name="one-of-artifacts")
def one_of_artifacts(large: bool = False) -> str:
    with dsl.If(large == True):
        a = data_of(n=9)
    with dsl.Else():
        b = data_of(n=2)
    return first_word(text=lines_of(data=dsl.OneOf(a.outputs["data"], b.outputs["data"])).output).output


@case(expect={"Output": "3 3 ['x', 'y'] data True"}, local=False)
@dsl.pipeline(name="importers")
def importers() -> str:
    first = data_of(n=3)
    again = dsl.importer(artifact_uri=where(data=first.outputs["data"]).output, artifact_class=dsl.Dataset,
                         metadata={"rows": 3, "columns": ["x", "y"]}, reimport=True)
    return lines_of(data=again.output).output


@case(state="FAILED", error="not in a store", local=False)
@dsl.pipeline(name="importer-of-elsewhere")
def importer_of_elsewhere() -> str:
    one = dsl.importer(artifact_uri="file:///etc/shadow", artifact_class=dsl.Dataset)
    return lines_of(data=one.output).output


@case(expect={"Output": "7 7 [] True"}, local=False)
@dsl.pipeline(name="returned-artifacts")
def returned_artifacts() -> str:
    return without_name(text=lines_of(data=returned(n=7).output).output).output


@case(expect={"Output": "none"})
@dsl.pipeline(name="optional-artifacts")
def optional_artifacts() -> str:
    return optional_data().output
