#!/usr/bin/env python3
"""A corpus of CustomResourceDefinitions with each construct of structural schemas, and what a stock server thinks of each.

usage: definitions.py compare OURS.kubeconfig VERDICTS      asks our server, and prints where it differs from the file and definitions_known.txt does not say so
       definitions.py accept OURS.kubeconfig VERDICTS       the same, and writes definitions_known.txt
       definitions.py check SERVER.kubeconfig VERDICTS      asks a stock server, and prints where it differs from the file
       definitions.py record SERVER.kubeconfig VERDICTS     asks the server, and writes the file
       definitions.py print NAME                            the definition of that name

Every construct stands at several places of a schema, and some stand together at random, always the same. A verdict is "taken", or the fields
that are refused. The file holds those of a stock server (tests/stock/definitions_test.sh records them), so that ours is compared without one.
"""
import copy
import json
import os
import random
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import asks
import compare

GROUP = "corpus.example.com"
FIELDS_MAX = 3  # of a verdict
S, I, N, B = {"type": "string"}, {"type": "integer"}, {"type": "number"}, {"type": "boolean"}
OBJECT = {"type": "object", "properties": {"a": S, "b": I}}


def but(schema, **more):
    return {**copy.deepcopy(schema), **{key.replace("x_", "x-kubernetes-").replace("_", "-") if key.startswith("x_") else key.rstrip("_"): value for key, value in more.items()}}


def array(items, **more):
    return but({"type": "array", "items": items}, **more)


def map_of(values, **more):
    return but({"type": "object", "additionalProperties": values}, **more)


def struct(**fields):
    return {"type": "object", "properties": fields}


def rule(text, **more):
    return {"rule": text, **more}


def cel(schema, *rules, **more):
    return but(schema, x_validations=[rule(one) if isinstance(one, str) else one for one in rules], **more)


def types():
    for name, schema in {"string": S, "integer": I, "number": N, "boolean": B, "object": OBJECT, "array": array(S), "map": map_of(I)}.items():
        yield name, schema
        yield name + " nullable", but(schema, nullable=True)
        yield name + " preserves", but(schema, x_preserve_unknown_fields=True)
        yield name + " preserves not", but(schema, x_preserve_unknown_fields=False)
        yield name + " embedded", but(schema, x_embedded_resource=True)
        yield name + " embedded preserves", but(schema, x_embedded_resource=True, x_preserve_unknown_fields=True)
        yield name + " int or string", but(schema, x_int_or_string=True)
        yield name + " list type", but(schema, x_list_type="atomic")
        yield name + " map type", but(schema, x_map_type="atomic")
        for default in ("x", 1, 1.5, True, {}, {"a": "x"}, {"a": 1}, {"z": 1}, [], ["x"], [1], None):
            yield f"{name} default {json.dumps(default)}", but(schema, default=default)
            if default in ("x", None):
                yield f"{name} nullable default {json.dumps(default)}", but(schema, default=default, nullable=True)
        yield name + " enum", but(schema, enum=["x", "y"])
        yield name + " enum of numbers", but(schema, enum=[1, 2])
        yield name + " with bounds", but(schema, minimum=1, maximum=2, minLength=1, maxLength=2, minItems=1, maxItems=2, minProperties=1, maxProperties=2)
        yield name + " required", but(schema, required=["a"])
        yield name + " with properties", but(schema, properties={"q": S})
        yield name + " with both", but(schema, properties={"q": S}, additionalProperties=S)
    yield "no type", {}
    yield "unknown type", {"type": "text"}
    yield "null type", {"type": "null"}
    yield "no type preserves", {"x-kubernetes-preserve-unknown-fields": True}
    yield "int or string", {"x-kubernetes-int-or-string": True}
    both = [{"type": "integer"}, {"type": "string"}]
    yield "int or string with anyOf", {"x-kubernetes-int-or-string": True, "anyOf": both}
    yield "int or string with anyOf turned", {"x-kubernetes-int-or-string": True, "anyOf": both[::-1]}
    yield "int or string with allOf", {"x-kubernetes-int-or-string": True, "allOf": [{"anyOf": both}, {"minimum": 1}]}
    yield "anyOf without int or string", {"anyOf": both}
    yield "int or string default", {"x-kubernetes-int-or-string": True, "default": "25%"}
    yield "int or string pattern", {"x-kubernetes-int-or-string": True, "anyOf": both, "pattern": "^[0-9]+%$"}
    yield "array without items", {"type": "array"}
    yield "array of any", array({"x-kubernetes-preserve-unknown-fields": True})
    yield "array of arrays", array(array(S))
    yield "array of preserved objects", array({"type": "object", "x-kubernetes-preserve-unknown-fields": True})
    yield "array of two schemas", {"type": "array", "items": [S, I]}
    yield "additionalProperties true", map_of(True)
    yield "additionalProperties false", map_of(False)
    yield "map of maps", map_of(map_of(array(S)))
    yield "unique items", array(S, uniqueItems=True)
    yield "reference", {"$ref": "#/definitions/x"}
    for text in ("^a+$", "(", "a{3,2}", "^(?=a)b", "\\d+", "[[:alpha:]]", "\\p{L}", "(?i)a", "a{1001}"):
        yield "pattern " + text, but(S, pattern=text)
    for text in ("date", "date-time", "duration", "email", "uuid", "byte", "int32", "int64", "double", "hostname", "ipv4", "uri", "strange"):
        for schema, default in ((S, "x"), (I, 3)):
            yield f"format {text} of {schema['type']}", but(schema, format=text)
            yield f"format {text} of {schema['type']} with default", but(schema, format=text, default=default)
    for key, value in {"multipleOf": 2, "exclusiveMinimum": True, "exclusiveMaximum": True, "title": "t", "description": "d", "example": {"a": 1}, "externalDocs": {"url": "u"}, "id": "i", "dependencies": {"a": ["b"]},
                       "patternProperties": {"a": S}, "definitions": {"a": S}, "additionalItems": S, "readOnly": True}.items():
        yield f"integer with {key}", but(I, **{key: value})


def logic():
    for word in ("allOf", "anyOf", "oneOf", "not"):
        def of(*schemas):
            return schemas[0] if word == "not" else list(schemas)
        for name, inner in {"required": {"required": ["a"]}, "property": {"properties": {"a": {"enum": ["x"]}}}, "unknown property": {"properties": {"z": {"minLength": 1}}}, "type": {"type": "object"},
                            "default": {"properties": {"a": {"default": "x"}}}, "description": {"description": "d"}, "nullable": {"nullable": True}, "additionalProperties": {"additionalProperties": S},
                            "preserve": {"x-kubernetes-preserve-unknown-fields": True}, "list type": {"properties": {"a": {"x-kubernetes-list-type": "set"}}}, "rules": {"x-kubernetes-validations": [rule("true")]},
                            "int or string": {"properties": {"a": {"x-kubernetes-int-or-string": True}}}, "empty": {}, "bounds": {"minProperties": 1, "maxProperties": 3},
                            "map value": {"properties": {"a": {"additionalProperties": {"minLength": 1}}}}}.items():
            yield f"{word} {name}", but(OBJECT, **{word + "_": of(inner)})
            for second in ("allOf", "anyOf", "oneOf", "not"):
                yield f"{word} {second} {name}", but(OBJECT, **{word + "_": of({second: inner if second == "not" else [inner]})})
        yield word + " of items", array(S, **{word + "_": of({"items": {"minLength": 1}})})
        yield word + " of string", but(S, **{word + "_": of({"pattern": "^a"}, {"format": "date"})})
        yield word + " empty list", but(S, **{word + "_": of() if word != "not" else None})


def lists():
    keyed = struct(k=S, v=I)
    for kind in ("atomic", "set", "map", "odd"):
        for name, items in {"strings": S, "nullable strings": but(S, nullable=True), "objects": keyed, "atomic objects": but(keyed, x_map_type="atomic"), "lists": array(S), "atomic lists": array(S, x_list_type="atomic"),
                            "numbers": N, "nullable objects": but(keyed, nullable=True), "int or strings": {"x-kubernetes-int-or-string": True}}.items():
            yield f"{kind} of {name}", array(items, x_list_type=kind)
            yield f"{kind} of {name} by k", array(items, x_list_type=kind, x_list_map_keys=["k"])
    needed = but(keyed, required=["k"])
    with_default = struct(k=but(S, default="x"), v=I)
    yield "map by a required key", array(needed, x_list_type="map", x_list_map_keys=["k"])
    yield "map by a key with a default", array(with_default, x_list_type="map", x_list_map_keys=["k"])
    yield "map by two keys", array(but(keyed, required=["k", "v"]), x_list_type="map", x_list_map_keys=["k", "v"])
    yield "map by a key twice", array(needed, x_list_type="map", x_list_map_keys=["k", "k"])
    yield "map by no key", array(needed, x_list_type="map", x_list_map_keys=[])
    yield "map by a key that is none", array(needed, x_list_type="map", x_list_map_keys=["z"])
    yield "map by a nullable key", array(but(struct(k=but(S, nullable=True)), required=["k"]), x_list_type="map", x_list_map_keys=["k"])
    yield "map by an object", array(but(struct(k=OBJECT), required=["k"]), x_list_type="map", x_list_map_keys=["k"])
    yield "set with a default", array(S, x_list_type="set", default=["a", "a"])
    yield "map with a default", array(needed, x_list_type="map", x_list_map_keys=["k"], default=[{"k": "a"}, {"k": "a"}])
    for kind in ("granular", "atomic", "odd"):
        yield "object " + kind, but(OBJECT, x_map_type=kind)


def rules():
    words = ["true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop", "package", "namespace", "return", "var", "void", "while", "self", "int", "string", "type", "map", "has", "all"]
    for word in words:
        yield "reserved " + word, cel(struct(**{word: S}), f"!has(self.__{word}__) || self.__{word}__ != ''")
        yield "plain " + word, cel(struct(**{word: S}), f"!has(self.{word}) || self.{word} != ''")
    for name, path in {"a-b": "a__dash__b", "a.b": "a__dot__b", "a/b": "a__slash__b", "a__b": "a__underscores__b", "_a": "_a", "1a": "1a", "a b": "a__space__b", "$a": "__dollar__a"}.items():
        yield "name " + name, cel(struct(**{name: S}), f"has(self.{path})")
    for text in ("self.a == 'x'", "self.a", "self.z == 1", "self.a == 1", "", "self.a ==", "size(self.a) < self.b", "self.a.matches('^a')", "self.a.matches('(')", "nothing(self)", "self.a.startsWith('x') && has(self.b)",
                 "self.a.lowerAscii() == 'x'", "self.a.split(',').all(x, x != '')", "isURL(self.a)", "quantity(self.a).isInteger()", "duration(self.a) > duration('1s')", "timestamp(self.a) > timestamp('2020-01-01T00:00:00Z')",
                 "ip(self.a).family() == 4", "cidr(self.a).containsIP('10.0.0.1')", "semver(self.a).major() > 1", "self.a.find('[0-9]+') != ''", "self.a in ['x', 'y']", "int(self.a) > 1", "double(self.a) > 1.0", "self.b.format('%d') == ''",
                 "'%d'.format([self.b]) == '1'", "oldSelf.a == self.a", "self == oldSelf", "self.?a.orValue('') != ''", "optional.of(self.a).hasValue()", "[1, 2].sum() == 3", "self.a.replace('a', 'b') == 'c'", "type(self.a) == string",
                 "cel.bind(x, self.a, x == 'y')", "sets.contains(['a'], [self.a])", "self.a.charAt(0) == 'x'", "math.greatest(self.b, 3) == 3", "format.dns1123Label().validate(self.a).hasValue()", "dyn(self.a) == 1", "self.a + 1 == 2"):
        yield "rule " + text, cel(OBJECT, text)
    plain = rule("self.a != ''")
    for name, more in {"message": {"message": "no"}, "message of two lines": {"message": "a\nb"}, "empty message": {"message": " "}, "long message": {"message": "x" * 2049}, "expression": {"messageExpression": "'no ' + self.a"},
                       "expression of no text": {"messageExpression": "self.b"}, "broken expression": {"messageExpression": "'"}, "reason": {"reason": "FieldValueForbidden"}, "odd reason": {"reason": "Odd"}, "path": {"fieldPath": ".a"},
                       "path that is none": {"fieldPath": ".z"}, "path without a dot": {"fieldPath": "a"}, "path in brackets": {"fieldPath": "['a']"}, "path of an item": {"fieldPath": ".a[0]"}, "old self": {"optionalOldSelf": True},
                       "old self with it": {"optionalOldSelf": True, "rule": "oldSelf.hasValue() || self.a == ''"}}.items():
        yield "rule with " + name, cel(OBJECT, {**plain, **more})
    many = array(S)
    for depth in range(1, 5):
        yield f"cost of {depth} loops", cel(many, "self.all(x, " * depth + "true" + ")" * depth)
        yield f"cost of {depth} loops of few", cel(but(many, maxItems=10), "self.all(x, " * depth + "x != ''" + ")" * depth)
        many = array(many)
    for bound in (None, 10, 1000, 100000):
        long = but(S, maxLength=bound) if bound else S
        for text in ("self.a == self.a", "self.a.contains(self.a)", "self.a.matches('^(a|b)*$')", "self.a.matches(self.a)", "isURL(self.a)", "duration(self.a) > duration('1s')", "int(self.a) > 1", "timestamp(self.a) == timestamp(self.a)",
                     "self.a.split('').all(x, x != 'b')", "self.a.replace('a', 'bb') == ''", "self.a + self.a == ''", "bytes(self.a) == b'x'", "string(self.b) == self.a", "url(self.a).getHost() == ''", "quantity(self.a).asInteger() > 1", "self.a.lowerAscii() == ''"):
            yield f"cost {text} of {bound}", cel(struct(a=long, b=I), text)
            yield f"cost {text} of {bound} in items", array(cel(struct(a=long, b=I), text), **({"maxItems": bound} if bound else {}))
            yield f"cost {text} of {bound} in values", map_of(cel(struct(a=long, b=I), text), **({"maxProperties": bound} if bound else {}))
        yield f"cost of keys of {bound}", cel(map_of(S, **({"maxProperties": bound} if bound else {})), "self.all(k, k.startsWith('a') && self[k] != '')")
        yield f"cost of keys of {bound} joined", cel(map_of(S, **({"maxProperties": bound} if bound else {})), "self.all(k, self.exists(l, k.contains(l)))")
        yield f"cost of unique of {bound}", cel(array(S, **({"maxItems": bound} if bound else {})), "self.all(x, self.exists_one(y, x == y))")
    yield "old self in a set", array(cel(S, "self == oldSelf"), x_list_type="set")
    yield "old self in a list", array(cel(S, "self == oldSelf"))
    yield "old self in a map of items", array(cel(but(struct(k=S), required=["k"]), "self == oldSelf"), x_list_type="map", x_list_map_keys=["k"])
    yield "rule under preserve", cel(but(OBJECT, x_preserve_unknown_fields=True), "has(self.a)")
    yield "rule of int or string", cel({"x-kubernetes-int-or-string": True}, "self == 1 || self == 'x'")
    yield "rule of embedded", cel({"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}, "self.kind == 'X' && self.metadata.name != ''")
    yield "default against a rule", cel(but(OBJECT, default={"a": "x"}), "self.a == 'y'")


# The schema of rules.txt: a member of each type.
TYPED = struct(s=but(S, maxLength=5), i=I, n=N, b={"type": "boolean"}, l=array(S, maxItems=3), li=array(I, maxItems=3), m=map_of(S, maxProperties=3), o=struct(a=S, z=I), lo=array(struct(k=S), maxItems=2),
               x={"type": "object", "x-kubernetes-preserve-unknown-fields": True}, any={"x-kubernetes-preserve-unknown-fields": True}, ios={"x-kubernetes-int-or-string": True}, nul=but(S, nullable=True),
               dt=but(S, format="date-time"), du=but(S, format="duration"), by=but(S, format="byte"), date=but(S, format="date"))


def typed():
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "rules.txt"), encoding="utf-8") as file:
        for text in file.read().splitlines()[1:]:
            yield "typed: " + text, definition(struct(f=cel(TYPED, text)))


PLACES = {
    "field": lambda schema: struct(f=schema),
    "items": lambda schema: struct(f=array(schema)),
    "values": lambda schema: struct(f=map_of(schema)),
    "deep": lambda schema: struct(f=struct(g=array(struct(h=schema)))),
    "allOf": lambda schema: but(struct(f=OBJECT), allOf=[{"properties": {"f": schema}}]),
}


def definition(spec=None, **changes):
    """A definition that nothing is wrong with; `changes` of its version, or with a capital letter of its spec."""
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec if spec is not None else {"type": "object"}}}}}
    whole = {"group": GROUP, "scope": "Namespaced", "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}, "versions": [version]}
    for key, value in changes.items():
        if key[0].isupper():
            whole[key[0].lower() + key[1:]] = value
        else:
            version[key] = value
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things." + GROUP}, "spec": {key: value for key, value in whole.items() if value is not None}}


def around():
    spec = struct(a=S, n=I, list=array(struct(b=S)), status=OBJECT, m=map_of(S))
    for path in (".spec.a", ".spec.list[0].b", ".spec.list[*].b", ".spec.list[].b", '.spec.list[?(@.b=="x")].b', ".spec['a']", ".spec.m['x.y']", ".spec.m.x\\.y", "spec.a", "", "{.spec.a}", ".spec.list[", ".spec.*", "..a", ".spec.list[-1:].b",
                 ".spec.list[0:2].b", ".metadata.labels", ".metadata.creationTimestamp", ".spec.z", "$.spec.a", "@.spec.a", ".spec .a", ".spec.list[0,1].b", ".spec.a[]", ".spec.list[a].b"):
        yield "column " + path, definition(spec, additionalPrinterColumns=[{"name": "A", "type": "string", "jsonPath": path}])
    for kind in ("integer", "number", "string", "boolean", "date", "object", "odd", ""):
        for form in (None, "int32", "date-time", "name", "odd"):
            yield f"column of type {kind} {form}", definition(spec, additionalPrinterColumns=[{"name": "A", "type": kind, "jsonPath": ".spec.a", **({"format": form} if form else {})}])
    yield "column without a name", definition(spec, additionalPrinterColumns=[{"name": "", "type": "string", "jsonPath": ".spec.a"}])
    yield "columns of one name", definition(spec, additionalPrinterColumns=[{"name": "A", "type": "string", "jsonPath": ".spec.a"}] * 2)
    yield "no columns", definition(spec, additionalPrinterColumns=[])
    client = {"service": {"namespace": "n", "name": "s"}}
    for name, conversion in {"none": {"strategy": "None"}, "odd": {"strategy": "Odd"}, "empty": {"strategy": ""}, "none with webhook": {"strategy": "None", "webhook": {"conversionReviewVersions": ["v1"]}}, "without webhook": {"strategy": "Webhook"},
                             "without client": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"]}}, "without versions": {"strategy": "Webhook", "webhook": {"clientConfig": client}}}.items():
        yield "conversion " + name, definition(spec, Conversion=conversion)
    for versions in (["v1"], ["v1beta1"], ["v1", "v1beta1"], ["v1beta1", "v1"], ["v2"], ["v2", "v1"], ["V1"], [""], [], ["v1", "v1"], ["v1beta1", "v9"]):
        yield f"conversion reviews {versions}", definition(spec, Conversion={"strategy": "Webhook", "webhook": {"conversionReviewVersions": versions, "clientConfig": client}})
    for name, one in {"url": {"url": "https://x.example.com/c"}, "http": {"url": "http://x.example.com/c"}, "no host": {"url": "https:///c"}, "query": {"url": "https://x/c?a=b"}, "user": {"url": "https://u:p@x/c"}, "fragment": {"url": "https://x/c#d"},
                      "both": {"url": "https://x/c", **client}, "neither": {}, "bundle": {**client, "caBundle": "bm8="}, "path": {"service": {"namespace": "n", "name": "s", "path": "c"}}, "good path": {"service": {"namespace": "n", "name": "s", "path": "/c"}},
                      "port": {"service": {"namespace": "n", "name": "s", "port": 0}}, "good port": {"service": {"namespace": "n", "name": "s", "port": 8443}}, "no name": {"service": {"namespace": "n", "name": ""}}}.items():
        yield "conversion client " + name, definition(spec, Conversion={"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": one}})
    whole = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n", "labelSelectorPath": ".status.s"}
    for key in whole:
        for path in ("", ".spec.n", ".status.n", ".metadata.n", "spec.n", ".spec", ".spec.list[0].b", ".spec.a.b.c", ".spec['n']", ".status", "{.spec.n}", ".Spec.n"):
            yield f"scale {key} {path}", definition(spec, subresources={"status": {}, "scale": {**whole, key: path}})
    yield "scale alone", definition(spec, subresources={"scale": {k: whole[k] for k in list(whole)[:2]}})
    yield "no subresources", definition(spec, subresources={})
    for path in (".spec.a", ".spec.n", ".spec.list", ".spec.m", ".spec.z", "spec.a", "", ".metadata.name", ".spec.list[0].b", ".spec.a.b", ".spec", ".spec.status.a", ".spec['a']"):
        yield "selectable " + path, definition(spec, selectableFields=[{"jsonPath": path}])
    yield "selectable twice", definition(spec, selectableFields=[{"jsonPath": ".spec.a"}] * 2)
    yield "selectable nine", definition(struct(**{f"a{i}": S for i in range(9)}), selectableFields=[{"jsonPath": f".spec.a{i}"} for i in range(9)])
    for name, names in {"upper plural": {"plural": "Things"}, "dotted kind": {"kind": "Th.ing"}, "lower kind": {"kind": "thing"}, "no kind": {"kind": ""}, "short": {"shortNames": ["th"]}, "upper short": {"shortNames": ["TH"]}, "category": {"categories": ["all"]},
                        "odd category": {"categories": ["A b"]}, "list kind of kind": {"listKind": "Thing"}, "no singular": {"singular": ""}, "long short": {"shortNames": ["x" * 64]}}.items():
        yield "names " + name, definition(spec, Names={"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList", **names})
    first = definition(spec)["spec"]["versions"][0]
    for name, versions in {"none": [], "no storage": [{**first, "storage": False}], "two storages": [first, {**first, "name": "v2"}], "same": [first, {**first, "storage": False}], "two": [first, {**first, "name": "v2", "storage": False}], "upper": [{**first, "name": "V1"}],
                           "odd": [{**first, "name": "1a"}], "dotted": [{**first, "name": "v1.2"}], "unserved": [{**first, "served": False}], "no schema": [{k: v for k, v in first.items() if k != "schema"}], "empty schema": [{**first, "schema": {}}],
                           "deprecated": [{**first, "deprecated": True, "deprecationWarning": "go"}], "warning alone": [{**first, "deprecationWarning": "go"}], "empty warning": [{**first, "deprecated": True, "deprecationWarning": ""}],
                           "root nullable": [{**first, "schema": {"openAPIV3Schema": {"type": "object", "nullable": True}}}], "root string": [{**first, "schema": {"openAPIV3Schema": S}}], "root preserve": [{**first, "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}}],
                           "root embedded": [{**first, "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-embedded-resource": True}}}], "metadata": [{**first, "schema": {"openAPIV3Schema": struct(metadata={"type": "object"})}}],
                           "metadata name": [{**first, "schema": {"openAPIV3Schema": struct(metadata=struct(name=but(S, pattern="^a")))}}], "metadata labels": [{**first, "schema": {"openAPIV3Schema": struct(metadata=struct(labels=map_of(S)))}}],
                           "metadata default": [{**first, "schema": {"openAPIV3Schema": struct(metadata={"type": "object", "default": {}})}}], "kind pattern": [{**first, "schema": {"openAPIV3Schema": struct(kind=but(S, pattern="^a"))}}],
                           "root rule of metadata": [{**first, "schema": {"openAPIV3Schema": cel({"type": "object"}, "self.metadata.name.startsWith('a')")}}], "root rule of labels": [{**first, "schema": {"openAPIV3Schema": cel({"type": "object"}, "has(self.metadata.labels)")}}],
                           "root rule of type": [{**first, "schema": {"openAPIV3Schema": cel({"type": "object"}, "self.kind == 'Thing' && self.apiVersion != ''")}}]}.items():
        yield "versions " + name, definition(Versions=versions)
    for name, changes in {"scope": {"Scope": "Odd"}, "cluster": {"Scope": "Cluster"}, "preserves": {"PreserveUnknownFields": True}, "preserves not": {"PreserveUnknownFields": False}, "group": {"Group": "Corpus"}, "no group": {"Group": ""}, "other group": {"Group": "x.example.com"}}.items():
        yield "spec " + name, definition(spec, **changes)


def mixed(count):
    chance = random.Random(51)
    pieces = [schema for source in (types, logic, lists, rules) for _, schema in source()]

    def grown(depth):
        schema = copy.deepcopy(chance.choice(pieces))
        if depth and chance.random() < 0.7 and schema.get("type") == "object":
            schema.setdefault("properties", {})[chance.choice("cdef")] = grown(depth - 1)
        if depth and chance.random() < 0.7 and schema.get("type") == "array":
            schema["items"] = grown(depth - 1)
        return schema
    for number in range(count):
        yield f"mixed {number}", definition(struct(f=grown(2), g=grown(2)))


def corpus():
    for source in (types, logic, lists, rules):
        for name, schema in source():
            for place, put in PLACES.items():
                if place == "field" or source is not rules or place == "deep":
                    yield f"{source.__name__}: {name} ({place})", definition(put(schema))
    for name, one in around():
        yield "around: " + name, one
    yield from typed()
    for name, one in mixed(600):
        yield name, one


def verdict(server, crd):
    ask = asks.Ask("definition", "POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All&fieldValidation=Strict&fieldManager=x", crd)
    answer = server.fetch(ask)
    if answer.status == 201:
        return "taken"
    body = json.loads(answer.body)
    fields = sorted({cause.get("field", "") for cause in body.get("details", {}).get("causes", [])})
    prefix = "spec.versions[0].schema.openAPIV3Schema.properties[spec]."
    shown = [field.replace(prefix, "~").replace("properties[", "[") for field in fields]
    more = f" and {len(shown) - FIELDS_MAX} more" if len(shown) > FIELDS_MAX else ""
    return " ".join([str(answer.status), *shown[:FIELDS_MAX]]) + more


def main(words):
    if len(words) == 2 and words[0] == "print":
        return print(json.dumps(next(one for name, one in corpus() if name == words[1]), indent=1))
    if len(words) != 3 or words[0] not in ("check", "record", "compare", "accept"):
        sys.exit(__doc__)
    server = compare.Server(words[1])
    said = {name: verdict(server, one) for name, one in corpus()}
    if words[0] == "record":
        with open(words[2], "w", encoding="utf-8") as file:
            for name, text in said.items():
                file.write(f"{json.dumps(name)}\t{text}\n")
        return print(f"{len(said)} verdicts")
    stock = read(words[2])
    if words[0] == "check":
        wrong = [name for name in {**stock, **said} if stock.get(name) != said.get(name)]
        for name in wrong:
            print(f"FAIL definitions: {name}: on record {stock.get(name)}; here {said.get(name)}")
        return sys.exit(1 if wrong else 0)
    compare_with(stock, said, os.path.join(os.path.dirname(os.path.abspath(__file__)), "definitions_known.txt"), words[0] == "accept")


def read(path):
    with open(path, encoding="utf-8") as file:
        return {json.loads(name): text for name, text in (line.rstrip("\n").split("\t") for line in file if not line.startswith("#"))}


def compare_with(stock, said, path, accepts):
    """Whether a definition is taken must be as on the stock server, but for those in the file; of the refused ones so many may name other fields."""
    other = {name: said[name] for name in stock if (said[name] == "taken") != (stock[name] == "taken")}
    named = sum(1 for name in stock if said[name] != stock[name]) - len(other)
    if accepts:
        with open(path, "w", encoding="utf-8") as file:
            file.write("# Definitions that our server takes and a stock one refuses, or the other way round (definitions.py). Both only become fewer.\n")
            file.write(f"# refused with other fields: {named}\n")
            for name, text in other.items():
                file.write(f"{json.dumps(name)}\t{text.split(' ')[0]}\n")
        return print(f"{len(other)} differ, {named} are refused with other fields")
    known = read(path)
    with open(path, encoding="utf-8") as file:
        most = int(file.readlines()[1].split(":")[1])
    wrong = [f"stock {stock[name]}; here {said[name]}: {name}" for name in other if name not in known]
    wrong += [f"no longer differs, take it out of definitions_known.txt: {name}" for name in known if name not in other]
    if named > most:
        wrong.append(f"{named} definitions are refused with other fields, {most} at most")
    for text in wrong:
        print("FAIL definitions: " + text)
    print(f"{len(said)} definitions, {len(other)} differ, {named} are refused with other fields")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
