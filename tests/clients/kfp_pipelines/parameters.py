"""Pipelines of parameters: types, defaults, optional values, placeholders, strings that could be taken for code."""
from typing import Dict, List, NamedTuple, Optional

from kfp import dsl

from .table import case, python


@python
def echo_text(value: str) -> str:
    return value


@python
def echo_whole(value: int) -> int:
    return value


@python
def echo_number(value: float) -> float:
    return value


@python
def echo_truth(value: bool) -> bool:
    return not value


@python
def echo_list(value: list) -> list:
    return value + [len(value)]


@python
def echo_dict(value: dict) -> dict:
    value["more"] = {"keys": sorted(value)}
    return value


@python
def join(a: str, b: str) -> str:
    return a + "|" + b


@python
def optional_values(a: Optional[str] = None, b: int = 7, c: Optional[List[int]] = None, d: Optional[Dict[str, int]] = None, e: str = "") -> str:
    return repr((a, b, c, d, e))


@python
def several(n: int) -> NamedTuple("Several", [("twice", int), ("text", str), ("list", List[int])]):
    from collections import namedtuple
    return namedtuple("Several", "twice text list")(2 * n, "n" * n, list(range(n)))


@python
def write_path(text: str, out: dsl.OutputPath(str), number: dsl.OutputPath(int)):
    with open(out, "w") as file:
        file.write(text * 2)
    with open(number, "w") as file:
        file.write("17")


@dsl.container_component
def shell(line: str, out: dsl.OutputPath(str), more: str = None, flags: list = None):
    return dsl.ContainerSpec(image="busybox", command=["sh", "-c", 'line=$0; out=$1; shift; mkdir -p "$(dirname "$out")"; printf "%s" "$line" > "$out"; for one; do printf "[%s]" "$one" >> "$out"; done'],
                             args=[line, out, dsl.ConcatPlaceholder(["<", line, "-", dsl.ConcatPlaceholder(["x", line]), ">"]),
                                   dsl.IfPresentPlaceholder("more", ["--more", more], ["alone"]),
                                   dsl.IfPresentPlaceholder("flags", dsl.ConcatPlaceholder(["flags=", flags]), "none")])


@python
def dates(a: str, b: str) -> str:
    from datetime import datetime
    return f"{datetime.fromisoformat(a.replace('Z', '+00:00')).year > 2000}|{b != ''}"


@python
def plus_one(value: int) -> int:
    return value + 1


@python
def rounded(value: float) -> int:
    assert isinstance(value, (int, float)), type(value)
    return round(value)


@case(expect={"a": "x", "b": 8, "c": 2.5, "d": False, "e": [1, "two", False, 3], "f": {"k": {"n": 1}, "more": {"keys": ["k"]}}})
@dsl.pipeline(name="types")
def types(a: str = "x", b: int = 8, c: float = 2.5, d: bool = True, e: list = [1, "two", False], f: dict = {"k": {"n": 1}}) -> NamedTuple(
        "Out", a=str, b=int, c=float, d=bool, e=list, f=dict):
    out = NamedTuple("Out", a=str, b=int, c=float, d=bool, e=list, f=dict)
    return out(a=echo_text(value=a).output, b=echo_whole(value=b).output, c=echo_number(value=c).output, d=echo_truth(value=d).output,
               e=echo_list(value=e).output, f=echo_dict(value=f).output)


@case(arguments={"a": "", "b": -9007199254740991, "c": 1e300, "d": False, "e": [], "f": {}},
      expect={"a": "", "b": -9007199254740991, "c": 1e300, "d": True, "e": [0], "f": {"more": {"keys": []}}})
@dsl.pipeline(name="extremes")
def extremes(a: str, b: int, c: float, d: bool, e: list, f: dict) -> NamedTuple("Out", a=str, b=int, c=float, d=bool, e=list, f=dict):
    out = NamedTuple("Out", a=str, b=int, c=float, d=bool, e=list, f=dict)
    return out(a=echo_text(value=a).output, b=echo_whole(value=b).output, c=echo_number(value=c).output, d=echo_truth(value=d).output,
               e=echo_list(value=e).output, f=echo_dict(value=f).output)


STRANGE = "it's \"quoted\" $HOME $(id) `id` {{$.inputs}} %s \\n é 漢字 \u202e \U0001f600\nsecond line\t{ \"a\": [1] } 'x' ; rm -rf / # end"


@case(arguments={"a": STRANGE}, expect={"Output": STRANGE + "|" + STRANGE}, local=False)
@dsl.pipeline(name="strange-text")
def strange_text(a: str) -> str:
    return join(a=a, b=echo_text(value=a).output).output


@case(expect={"Output": "value 1: 1 of 2"}, local=False)
@dsl.pipeline(name="texts-of-parameters")
def texts_of_parameters(n: int = 1, total: int = 2) -> str:
    return echo_text(value=f"value {n}: {echo_whole(value=n).output} of {total}").output


@case(expect={"Output": "(None, 7, None, None, '')"})
@dsl.pipeline(name="optional")
def optional() -> str:
    return optional_values().output


@case(arguments={"a": "given"}, expect={"Output": "('given', 7, [1], None, '')"}, local=False)
@dsl.pipeline(name="optional-given")
def optional_given(a: Optional[str] = None) -> str:
    return optional_values(a=a, c=[1]).output


@case(expect={"Output": "(None, 7, None, None, '')"}, local=False)
@dsl.pipeline(name="optional-handed-on")
def optional_handed_on(a: Optional[str] = None) -> str:
    return optional_values(a=a).output


@case(expect={"Output": "nnn6"}, local=False)
@dsl.pipeline(name="several-outputs")
def several_outputs(n: int = 3) -> str:
    one = several(n=n)
    return echo_text(value=f"{one.outputs['text']}{one.outputs['twice']}").output


@case(expect={"Output": "abab|17"}, local=False)
@dsl.pipeline(name="output-paths")
def output_paths() -> str:
    one = write_path(text="ab")
    return join(a=one.outputs["out"], b=f"{one.outputs['number']}").output


@case(expect={"Output": "a b[<a b-xa b>][alone][none]"}, local=False)
@dsl.pipeline(name="placeholders")
def placeholders() -> str:
    return shell(line="a b").outputs["out"]


@case(expect={"Output": "q[<q-xq>][--more][m m][flags=[1,\"2\"]]"}, local=False)
@dsl.pipeline(name="placeholders-given")
def placeholders_given() -> str:
    return shell(line="q", more="m m", flags=[1, "2"]).outputs["out"]


@case(expect=lambda out, run: out["Output"].split("|") == [run["name"], run["id"], "echo-text", "True", "True"], local=False)
@dsl.pipeline(name="names-of-the-run")
def names_of_the_run() -> str:
    name = echo_text(value=f"{dsl.PIPELINE_JOB_NAME_PLACEHOLDER}|{dsl.PIPELINE_JOB_ID_PLACEHOLDER}|{dsl.PIPELINE_TASK_NAME_PLACEHOLDER}")
    return join(a=name.output, b=dates(a=dsl.PIPELINE_JOB_CREATE_TIME_UTC_PLACEHOLDER, b=dsl.PIPELINE_ROOT_PLACEHOLDER).output).output


@case(expect={"Output": 31})
@dsl.pipeline(name="long-chain")
def long_chain() -> int:
    value = plus_one(value=1)
    for _ in range(29):
        value = plus_one(value=value.output)
    return value.output


@case(expect={"Output": 3})
@dsl.pipeline(name="whole-numbers-as-floats")
def whole_numbers_as_floats(n: float = 2) -> int:
    return plus_one(value=rounded(value=n).output).output
