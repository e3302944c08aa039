"""Workflows of Argo at their corners, against a cluster: each with its end, what its nodes give and print, or why it is refused.
usage: workflow_corners.py [NAME...]      KUBECONFIG of the environment"""
import json
import subprocess
import sys
import time

import yaml

SAY = """
- name: say
  inputs: {parameters: [{name: text}]}
  container: {image: host, command: [echo], args: ["{{inputs.parameters.text}}"]}
- name: fail
  container: {image: host, command: [sh, -c, "exit 3"]}
- name: write
  inputs: {parameters: [{name: text, value: seven}]}
  container: {image: host, command: [sh, -c, "printf %s '{{inputs.parameters.text}}' > /tmp/out"]}
  outputs: {parameters: [{name: out, valueFrom: {path: /tmp/out}}]}
- name: pass
  container: {image: host, command: ["true"]}
"""
cases = []


def case(name, templates, spec="entrypoint: main", phase="Succeeded", logs=None, nodes=None, outputs=None, message="", refused="", metadata=None, pods=None, after=None):
    cases.append({"name": name, "text": spec + "\ntemplates:" + SAY + templates, "phase": phase, "logs": logs or {}, "nodes": nodes or {}, "outputs": outputs,
                  "message": message, "refused": refused, "metadata": metadata or {}, "pods": pods, "after": after})


# Loops.
case("items-of-maps", """
- name: main
  steps: [[{name: a, template: say, withItems: [{os: debian, n: 9}, {os: alpine, n: 3.5}], arguments: {parameters: [{name: text, value: "{{item.os}} {{item.n}} {{item}}"}]}}]]
""", logs={"a(0:n:9,os:debian)": 'debian 9 {"n":9,"os":"debian"}'}, pods=2)
case("items-of-every-type", """
- name: main
  steps: [[{name: a, template: say, withItems: [1, two, true, [3, 4], 1.5], arguments: {parameters: [{name: text, value: "<{{item}}>"}]}}]]
""", logs={"a(0:1)": "<1>", "a(1:two)": "<two>", "a(2:true)": "<true>", "a(3:[3,4])": "<[3,4]>", "a(4:1.5)": "<1.5>"})
case("param-of-objects", """
- name: main
  dag:
    tasks:
    - {name: a, template: write, arguments: {parameters: [{name: text, value: '[{"k": "x", "v": {"w": [1]}}, {"k": "y", "v": 2}]'}]}}
    - {name: b, template: say, depends: a, withParam: "{{tasks.a.outputs.parameters.out}}", arguments: {parameters: [{name: text, value: "{{item.k}} {{item.v}}"}]}}
""", logs={'b(0:k:x,v:{"w":[1]})': 'x {"w":[1]}', "b(1:k:y,v:2)": "y 2"})
case("param-that-is-no-list", """
- name: main
  steps: [[{name: a, template: say, withParam: '{"a": 1}', arguments: {parameters: [{name: text, value: x}]}}]]
""", phase="Failed", message="is not a list in JSON")
case("empty-loop", """
- name: main
  dag:
    tasks:
    - {name: a, template: pass, withParam: "[]"}
    - {name: b, template: say, depends: a, arguments: {parameters: [{name: text, value: "{{tasks.a.outputs.parameters}}"}]}}
""", nodes={"a": "Skipped"}, logs={"b": "[]"})
case("sequences", """
- name: main
  steps:
  - - {name: a, template: say, withSequence: {start: 3, end: 1}, arguments: {parameters: [{name: text, value: "n{{item}}"}]}}
    - {name: b, template: pass, withSequence: {count: 0}}
    - {name: c, template: pass, withSequence: {count: "2", start: "5"}}
""", logs={"a(0:3)": "n3", "a(2:1)": "n1"}, nodes={"b": "Skipped", "c(1:6)": "Succeeded"})
case("outputs-of-a-loop", """
- name: main
  steps:
  - - {name: a, template: write, withItems: [x, "y z"], arguments: {parameters: [{name: text, value: "{{item}}"}]}}
  - - {name: b, template: say, arguments: {parameters: [{name: text, value: "{{steps.a.outputs.parameters.out}}"}]}}
  outputs: {parameters: [{name: all, valueFrom: {parameter: "{{steps.a.outputs.parameters.out}}"}}]}
""", logs={"b": '["x","y z"]'}, outputs={"all": '["x","y z"]'})
case("loops-in-loops", """
- name: inner
  inputs: {parameters: [{name: x}]}
  steps: [[{name: i, template: write, withItems: [1, 2], arguments: {parameters: [{name: text, value: "{{inputs.parameters.x}}{{item}}"}]}}]]
  outputs: {parameters: [{name: out, valueFrom: {parameter: "{{steps.i.outputs.parameters.out}}"}}]}
- name: main
  steps:
  - - {name: o, template: inner, withItems: [a, b], arguments: {parameters: [{name: x, value: "{{item}}"}]}}
  - - {name: b, template: say, arguments: {parameters: [{name: text, value: "{{steps.o.outputs.parameters.out}}"}]}}
""", logs={"b": '["[\\"a1\\",\\"a2\\"]","[\\"b1\\",\\"b2\\"]"]'})
case("a-turn-fails", """
- name: main
  steps: [[{name: a, template: fail, withItems: [1, 2], continueOn: {failed: true}}], [{name: b, template: pass}]]
""", nodes={"a": "Failed", "b": "Succeeded"})
case("conditions-on-turns", """
- name: main
  steps: [[{name: a, template: pass, withItems: [1, 2, 3], when: "{{item}} > 1"}]]
""", nodes={"a(0:1)": "Skipped", "a(1:2)": "Succeeded", "a": "Succeeded"})
case("recursion", """
- name: count
  inputs: {parameters: [{name: n}]}
  steps:
  - - {name: less, template: write, arguments: {parameters: [{name: text, value: "{{inputs.parameters.n}}1"}]}}
  - - {name: again, template: count, when: "{{steps.less.outputs.parameters.out}} < 1111", arguments: {parameters: [{name: n, value: "{{steps.less.outputs.parameters.out}}"}]}}
- name: main
  steps: [[{name: c, template: count, arguments: {parameters: [{name: n, value: "1"}]}}]]
""", pods=3)

# Dependencies.
case("depends-on-results", """
- name: main
  dag:
    failFast: false
    tasks:
    - {name: ok, template: pass}
    - {name: bad, template: fail}
    - {name: not-run, template: pass, when: "1 == 2"}
    - {name: a, template: pass, depends: "bad.Failed && ok.Succeeded"}
    - {name: b, template: pass, depends: "bad.Succeeded || (ok && not-run.Skipped)"}
    - {name: c, template: pass, depends: "!bad.Errored && bad"}
    - {name: d, template: pass, depends: "c.Omitted"}
    - {name: e, template: pass, depends: "ok.Daemoned || ok.Succeeded"}
""", nodes={"a": "Succeeded", "b": "Succeeded", "c": "Omitted", "d": "Succeeded", "e": "Succeeded"})
case("depends-on-loops", """
- name: odd
  inputs: {parameters: [{name: n}]}
  container: {image: host, command: [sh, -c, "exit $(({{inputs.parameters.n}} % 2))"]}
- name: main
  dag:
    tasks:
    - {name: some, template: odd, withItems: [1, 2], arguments: {parameters: [{name: n, value: "{{item}}"}]}}
    - {name: none, template: odd, withItems: [1, 3], arguments: {parameters: [{name: n, value: "{{item}}"}]}}
    - {name: a, template: pass, depends: "some.AnySucceeded && none.AllFailed"}
    - {name: b, template: pass, depends: "none.AnySucceeded"}
""", phase="Failed", nodes={"a": "Succeeded", "b": "Omitted"})
case("fail-fast", """
- name: slow
  container: {image: host, command: [sleep, "2"]}
- name: main
  dag: {tasks: [{name: bad, template: fail}, {name: slow, template: slow}, {name: after, template: pass, depends: slow}]}
""", phase="Failed", nodes={"slow": "Succeeded"}, pods=2)
case("statuses-and-exit-codes", """
- name: main
  dag:
    tasks:
    - {name: bad, template: fail, continueOn: {failed: true}}
    - {name: a, template: say, depends: bad.Failed, arguments: {parameters: [{name: text, value: "{{tasks.bad.status}} {{tasks.bad.exitCode}}"}]}}
""", logs={"a": "Failed 3"})
case("conditions", """
- name: main
  steps:
  - - {name: a, template: pass, when: "'a b' == 'a b' && (2 < 10 || x == y)"}
    - {name: b, template: pass, when: "!(true) || 1 >= 2"}
    - {name: c, template: pass, when: "{{workflow.name}} in (x, conditions)"}
    - {name: d, template: pass, when: "abc != 'abc'"}
""", nodes={"a": "Succeeded", "b": "Skipped", "c": "Succeeded", "d": "Skipped"})

# Exit handlers, retries, deadlines.
case("exit-handler", """
- name: bye
  steps: [[{name: tell, template: say, arguments: {parameters: [{name: text, value: "{{workflow.status}} {{workflow.failures}}"}]}}]]
- name: main
  steps: [[{name: bad, template: fail}]]
""", spec="entrypoint: main\nonExit: bye", phase="Failed", logs={"tell": lambda text: text.startswith('Failed "[{') and '\\"displayName\\":\\"bad\\"' in text})
case("exit-handler-that-fails", """
- name: main
  steps: [[{name: a, template: pass}]]
""", spec="entrypoint: main\nonExit: fail", phase="Failed")
case("retries", """
- name: flaky
  retryStrategy: {limit: "3", retryPolicy: OnFailure, backoff: {duration: "1", factor: "2", maxDuration: "1m"}}
  container: {image: host, command: [sh, -c, "echo try {{retries}}; test {{retries}} = 2"]}
- name: main
  steps: [[{name: a, template: flaky}]]
""", nodes={"a": "Succeeded", "a(1)": "Failed"}, logs={"a(2)": "try 2"}, pods=3)
case("retries-out-of-time", """
- name: flaky
  retryStrategy: {limit: 10, backoff: {duration: "3", maxDuration: "2s"}}
  container: {image: host, command: [sh, -c, "exit 1"]}
- name: main
  steps: [[{name: a, template: flaky}]]
""", phase="Failed", message="duration limit", pods=1)
case("retries-of-a-graph", """
- name: part
  steps: [[{name: x, template: pass}], [{name: y, template: fail}]]
- name: again
  retryStrategy: {limit: 1, retryPolicy: Always}
  steps: [[{name: p, template: part}]]
- name: main
  steps: [[{name: a, template: again}]]
""", phase="Failed", pods=4)
case("a-step-past-its-deadline", """
- name: slow
  activeDeadlineSeconds: 1
  container: {image: host, command: [sleep, "60"]}
- name: main
  steps: [[{name: a, template: slow, continueOn: {failed: true}}], [{name: b, template: pass}]]
""", nodes={"a": "Failed", "b": "Succeeded"})
case("parallel-in-a-template", """
- name: main
  parallelism: 1
  dag: {tasks: [{name: a, template: pass, withItems: [1, 2, 3]}]}
""", pods=3)

# Parameters and artifacts.
case("globals", """
- name: main
  inputs: {parameters: [{name: who, default: "{{workflow.parameters.who}}"}, {name: n, value: 3}]}
  container: {image: host, command: [echo], args: ["{{inputs.parameters.who}} {{inputs.parameters.n}} {{workflow.labels.team}} {{workflow.annotations.why}} {{workflow.namespace}} {{workflow.creationTimestamp.Y}} {{workflow.mainEntrypoint}} {{pod.name}}"]}
""", spec="entrypoint: main\narguments: {parameters: [{name: who, value: 'you & me'}]}", metadata={"labels": {"team": "ml"}, "annotations": {"why": "for a test"}},
     logs={"globals": lambda text: text.startswith("you & me 3 ml for a test default 20") and text.endswith(" main globals")})
case("default-of-an-output", """
- name: nothing
  container: {image: host, command: ["true"]}
  outputs: {parameters: [{name: out, valueFrom: {path: /tmp/none, default: fallback}}]}
- name: main
  steps: [[{name: a, template: nothing}], [{name: b, template: say, arguments: {parameters: [{name: text, value: "{{steps.a.outputs.parameters.out}}"}]}}]]
""", logs={"b": "fallback"})
case("an-output-that-is-missing", """
- name: nothing
  container: {image: host, command: ["true"]}
  outputs: {parameters: [{name: out, valueFrom: {path: /tmp/none}}]}
- name: main
  steps: [[{name: a, template: nothing}]]
""", phase="Failed", message="/tmp/none is not there")
case("odd-texts", """
- name: main
  steps:
  - - {name: a, template: write, arguments: {parameters: [{name: text, value: "é \\\\ \\"q\\" $HOME {not a tag} ?"}]}}
  - - {name: b, template: say, arguments: {parameters: [{name: text, value: "{{steps.a.outputs.parameters.out}}"}]}}
""", logs={"b": 'é \\ "q" $HOME {not a tag} ?'})
case("artifacts", """
- name: make
  container: {image: host, command: [sh, -c, "mkdir -p /tmp/d && echo one > /tmp/d/one && echo two > /tmp/d/two && echo file > /tmp/f.txt"]}
  outputs: {artifacts: [{name: folder, path: /tmp/d, archive: {none: {}}}, {name: file, path: /tmp/f.txt, archive: {tar: {compressionLevel: 1}}}]}
- name: use
  inputs: {artifacts: [{name: folder, path: /in/d}, {name: file, path: /other/f.txt}, {name: maybe, path: /maybe, optional: true}]}
  container: {image: host, command: [sh, -c, "cat /in/d/one /in/d/two {{inputs.artifacts.file.path}}; ls /maybe 2> /dev/null; true"]}
- name: main
  dag: {tasks: [{name: m, template: make}, {name: u, template: use, depends: m, arguments: {artifacts: [{name: folder, from: "{{tasks.m.outputs.artifacts.folder}}"}, {name: file, from: "{{tasks.m.outputs.artifacts.file}}"}]}}]}
""", logs={"u": "one\ntwo\nfile"})
case("artifacts-in-other-folders", """
- name: make
  container:
    image: host
    command: [sh, -c, "echo part > /space/part && mkdir /space/all && echo one > /space/all/one && ln -s one /space/all/two && chmod 700 /space/all/one && mkdir /run/model && echo m > /run/model/m"]
    volumeMounts: [{name: work, mountPath: /space}]
  volumes: [{name: work, emptyDir: {}}]
  outputs:
    parameters: [{name: part, valueFrom: {path: /space/part}}]
    artifacts: [{name: part, path: /space/part}, {name: all, path: /space/all}, {name: model, path: /run/model}, {name: maybe, path: /none, optional: true}]
- name: use
  inputs: {artifacts: [{name: part, path: /in/part}, {name: all, path: /in/all}, {name: model, path: /model}], parameters: [{name: part}]}
  container: {image: host, command: [sh, -c, "cat /in/part /in/all/two /model/m; stat -c %a /in/all/one; echo {{inputs.parameters.part}}"]}
- name: main
  dag: {tasks: [{name: m, template: make}, {name: u, template: use, depends: m, arguments: {parameters: [{name: part, value: "{{tasks.m.outputs.parameters.part}}"}], artifacts: [{name: part, from: "{{tasks.m.outputs.artifacts.part}}"}, {name: all, from: "{{tasks.m.outputs.artifacts.all}}"}, {name: model, from: "{{tasks.m.outputs.artifacts.model}}"}]}}]}
""", logs={"u": "part\none\nm\n700\npart"})
case("an-artifact-that-is-not-made", """
- name: main
  steps: [[{name: a, template: forgets}]]
- name: forgets
  container: {image: host, command: ["true"]}
  outputs: {artifacts: [{name: model, path: /model}]}
""", phase="Failed", message="the step has not made its output /model")
case("a-script-behind-its-arguments", """
- name: main
  steps: [[{name: a, template: print, arguments: {parameters: [{name: n, value: 7}]}}]]
- name: print
  inputs: {parameters: [{name: n}, {name: m, default: x}]}
  script: {image: host, command: [python3], args: [-m, json.tool, --compact], source: "{{inputs.parameters}}"}
""", logs={"a": '[{"name":"n","value":"7"},{"name":"m","value":"x"}]'})
case("braces-of-others", """
- name: main
  steps: [[{name: a, template: print, arguments: {parameters: [{name: n, value: 7}]}}]]
- name: print
  inputs: {parameters: [{name: n}]}
  script: {image: host, command: [python3], source: "print(f'{{{{{ {{inputs.parameters.n}} }}}}}', '{{range .items}}{{ end }}', '{{ user.name }}')"}
""", logs={"a": "{{7}} {{range .items}}{{ end }} {{ user.name }}"})
case("numbers-in-a-form", """
- name: main
  steps: [[{name: a, template: say, withSequence: {start: "9", end: "10", format: "user-%03d"}, when: "{{item}} =~ '9$'", arguments: {parameters: [{name: text, value: "{{item}}"}]}}]]
""", logs={"a(0:user-009)": "user-009"}, nodes={"a(1:user-010)": "Skipped"})
case("a-target", """
- name: main
  dag: {target: "c", tasks: [{name: a, template: pass}, {name: b, template: fail, depends: a}, {name: c, template: pass, depends: a}]}
""", nodes={"c": "Succeeded"}, pods=2)
case("mounts-of-another-container", """
- name: main
  timeout: 1m
  annotations: {workflows.argoproj.io/display-name: "it"}
  container: {image: host, command: [cat, /space/file], volumeMounts: [{name: work, mountPath: /space}]}
  initContainers: [{name: first, image: host, command: [sh, -c, "echo it > /space/file"], mirrorVolumeMounts: true}]
""", spec="entrypoint: main\nvolumes: [{name: work, emptyDir: {}}, {name: unused, secret: {secretName: none}}]")
case("artifacts-through-a-graph", """
- name: make
  script: {image: host, command: [python3], source: "open('/tmp/f.txt', 'w').write('made')"}
  outputs: {artifacts: [{name: file, path: /tmp/f.txt}]}
- name: part
  steps: [[{name: m, template: make}]]
  outputs: {artifacts: [{name: result, from: "{{steps.m.outputs.artifacts.file}}"}]}
- name: use
  inputs: {artifacts: [{name: file, path: /tmp/f.txt}]}
  container: {image: host, command: [cat, /tmp/f.txt]}
- name: main
  steps: [[{name: p, template: part}], [{name: u, template: use, arguments: {artifacts: [{name: file, from: "{{steps.p.outputs.artifacts.result}}"}]}}]]
""", logs={"u": "made"})
case("scripts", """
- name: draw
  script:
    image: host
    command: [sh]
    env: [{name: WORD, value: "{{workflow.name}}"}]
    source: |
      for i in 1 2; do
        echo "$WORD $i" '{not}' "a=b"
      done
- name: main
  steps: [[{name: a, template: draw}], [{name: b, template: say, arguments: {parameters: [{name: text, value: "{{steps.a.outputs.result}}"}]}}]]
""", logs={"b": "scripts 1 {not} a=b\nscripts 2 {not} a=b"})

# Pods.
case("volumes-and-claims", """
- name: put
  container: {image: host, command: [sh, -c, "echo kept > /data/file; cat /config/level"], volumeMounts: [{name: data, mountPath: /data}, {name: config, mountPath: /config}]}
- name: get
  container: {image: host, command: [cat, /data/file], volumeMounts: [{name: data, mountPath: /data}]}
- name: main
  steps: [[{name: a, template: put}], [{name: b, template: get}]]
""", spec="entrypoint: main\nvolumes: [{name: config, configMap: {name: corner-config}}]\nvolumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}}]",
     logs={"a": "high", "b": "kept"})
case("fields-of-pods", """
- name: look
  metadata: {labels: {own: "yes"}}
  nodeSelector: {kubernetes.io/os: linux}
  tolerations: [{key: x, operator: Exists}]
  initContainers: [{name: first, image: host, command: [sh, -c, "echo ready > /shared/f"], mirrorVolumeMounts: true, volumeMounts: [{name: shared, mountPath: /shared}]}]
  sidecars: [{name: side, image: host, command: [sleep, "600"]}]
  volumes: [{name: shared, emptyDir: {}}]
  container: {image: host, command: [cat, /shared/f], volumeMounts: [{name: shared, mountPath: /shared}], resources: {requests: {cpu: 10m}}}
- name: main
  steps: [[{name: a, template: look}]]
""", spec="entrypoint: main\nschedulerName: volcano\npodMetadata: {labels: {all: \"yes\"}, annotations: {scheduling.volcano.sh/queue-name: default}}", logs={"a": "ready"})
case("objects", """
- name: config
  resource:
    action: create
    setOwnerReference: true
    manifest: |
      apiVersion: v1
      kind: ConfigMap
      metadata: {generateName: corner-made-}
      data: {level: "five"}
  outputs: {parameters: [{name: name, valueFrom: {jsonPath: "{.metadata.name}"}}, {name: level, valueFrom: {jsonPath: "{.data.level}"}}]}
- name: gone
  inputs: {parameters: [{name: name}]}
  resource: {action: delete, manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {name: '{{inputs.parameters.name}}'}}"}
- name: main
  steps:
  - - {name: a, template: config}
  - - {name: b, template: say, arguments: {parameters: [{name: text, value: "{{steps.a.outputs.parameters.level}}"}]}}
  - - {name: c, template: gone, arguments: {parameters: [{name: name, value: "{{steps.a.outputs.parameters.name}}"}]}}
""", spec="entrypoint: main\nserviceAccountName: corner-runner", logs={"b": "five"})
case("waits-for-an-object", """
- name: job
  resource:
    action: create
    successCondition: status.succeeded > 0
    failureCondition: status.failed > 0
    manifest: |
      apiVersion: batch/v1
      kind: Job
      metadata: {generateName: corner-job-}
      spec: {backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{name: a, image: host, command: [sh, -c, "exit {{inputs.parameters.code}}"]}]}}}
  inputs: {parameters: [{name: code}]}
- name: main
  dag: {failFast: false, tasks: [{name: good, template: job, arguments: {parameters: [{name: code, value: 0}]}}, {name: bad, template: job, arguments: {parameters: [{name: code, value: 1}]}}]}
""", spec="entrypoint: main\nserviceAccountName: corner-runner", phase="Failed", nodes={"good": "Succeeded", "bad": "Failed"})
case("pauses", """
- name: rest
  suspend: {duration: "1"}
- name: main
  steps: [[{name: a, template: rest}], [{name: b, template: pass}]]
""", nodes={"a": "Succeeded"})
case("time-to-live", """
- name: main
  steps: [[{name: a, template: pass}]]
""", spec="entrypoint: main\nttlStrategy: {secondsAfterSuccess: 1}", phase="", after="gone")

# Refused, with the field.
for name, spec, templates, words in [
        ("synchronization", "entrypoint: pass\nsynchronization: {mutex: {name: m}}", "", "spec.synchronization: Forbidden"),
        ("template-synchronization", "entrypoint: main", "- {name: main, synchronization: {}, container: {image: x}}", "spec.templates[4].synchronization: Forbidden"),
        ("hooks", "entrypoint: pass\nhooks: {exit: {template: pass}}", "", "spec.hooks: Forbidden"),
        ("pod-gc", "entrypoint: pass\npodGC: {strategy: Always}", "", "spec.podGC.strategy: Unsupported value"),
        ("a-field-of-containers", "entrypoint: main", "- {name: main, resources: {}, container: {image: x}}", "spec.templates[4].resources: Forbidden: Workflows have no such field here"),
        ("a-step-without-end", "entrypoint: main", "- {name: main, daemon: true, container: {image: x}}", "make it a sidecar"),
        ("template-ref", "entrypoint: main", "- name: main\n  steps: [[{name: a, templateRef: {name: x, template: y}}]]", "spec.templates[4].steps[0][0].templateRef: Forbidden"),
        ("retry-expression", "entrypoint: main", "- {name: main, retryStrategy: {expression: 'true'}, container: {image: x}}", "spec.templates[4].retryStrategy.expression: Forbidden"),
        ("daemon", "entrypoint: main", "- {name: main, daemon: true, container: {image: x}}", "spec.templates[4].daemon: Forbidden"),
        ("memoize", "entrypoint: main", "- {name: main, memoize: {}, container: {image: x}}", "spec.templates[4].memoize: Forbidden"),
        ("global-names", "entrypoint: main", "- {name: main, container: {image: x}, outputs: {parameters: [{name: a, globalName: b, valueFrom: {path: /a}}]}}", "spec.templates[4].outputs.parameters[0].globalName: Forbidden"),
        ("git-artifacts", "entrypoint: main", "- {name: main, container: {image: x}, inputs: {artifacts: [{name: a, path: /a, git: {repo: r}}]}}", "spec.templates[4].inputs.artifacts[0].git: Forbidden"),
        ("a-missing-value", "entrypoint: pass\narguments: {parameters: [{name: x}]}", "", "spec.arguments.parameters[0].value: Required value"),
        ("a-value-outside-of-its-enum", "entrypoint: pass\narguments: {parameters: [{name: x, value: c, enum: [a, b]}]}", "", "spec.arguments.parameters[0].value: Invalid value"),
        ("an-unknown-input", "entrypoint: main", "- {name: main, container: {image: x, args: ['{{inputs.parameters.x}}']}}", "the template has no input parameter"),
        ("an-unknown-step", "entrypoint: main", "- name: main\n  steps: [[{name: a, template: say, arguments: {parameters: [{name: text, value: '{{steps.b.outputs.result}}'}]}}]]", "the template has no step"),
        ("a-bad-depends", "entrypoint: main", "- name: main\n  dag: {tasks: [{name: a, template: pass}, {name: b, template: pass, depends: 'a.Sucess'}]}", "is not a result of a task"),
        ("a-circle", "entrypoint: main", "- name: main\n  dag: {tasks: [{name: a, template: pass, depends: b}, {name: b, template: pass, depends: a}]}", "waits for itself"),
        ("an-expression", "entrypoint: main", "- {name: main, container: {image: x, args: ['{{=1 + 1}}']}}", "is an expression, which is not supported here")]:
    case("refused-" + name, templates, spec=spec, refused=words)


def kubectl(*words, **more):
    return subprocess.run(["kubectl", *words], capture_output=True, text=True, **more)


def create(one):
    spec = yaml.safe_load(one["text"])
    body = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": one["name"], **one["metadata"]}, "spec": spec}
    return kubectl("create", "-f", "-", input=json.dumps(body))


def wrong_with(one, answer):
    if one["refused"]:
        return "" if answer.returncode != 0 and one["refused"] in answer.stderr else f"no such refusal: {answer.stdout}{answer.stderr}"
    if answer.returncode != 0:
        return answer.stderr
    end = time.monotonic() + 60
    while True:
        got = kubectl("get", "workflow", one["name"], "-o", "json")
        if got.returncode != 0:
            return "" if one["after"] == "gone" and "not found" in got.stderr else got.stderr
        status = json.loads(got.stdout).get("status", {})
        if "finishedAt" in status and one["after"] is None:
            break
        if time.monotonic() > end:
            return f"it does not end: {json.dumps(status)[-1500:]}"
        time.sleep(0.3)
    said = f"{status['phase']}: {status.get('message')}"
    nodes = {node["displayName"]: node for node in status.get("nodes", {}).values()}
    if status["phase"] != one["phase"] or one["message"] not in status.get("message", ""):
        return said + "; " + "; ".join(f"{name}: {node['phase']} {node.get('message', '')}" for name, node in nodes.items())
    for name, phase in one["nodes"].items():
        if nodes.get(name, {}).get("phase") != phase:
            return f"node {name} is {nodes.get(name, {}).get('phase')}, not {phase}; {sorted(nodes)}"
    for name, text in one["logs"].items():
        if name not in nodes:
            return f"no node {name} of {sorted(nodes)}"
        log = kubectl("logs", nodes[name]["id"], "-c", "main").stdout.strip()
        if not (text(log) if callable(text) else log == text):
            return f"log of {name}: {log!r}"
    if one["outputs"] is not None:
        outputs = {each["name"]: each["value"] for each in status.get("outputs", {}).get("parameters", [])}
        if outputs != one["outputs"]:
            return f"outputs {outputs}"
    pods = sum(node["type"] == "Pod" for node in status.get("nodes", {}).values())
    return f"{pods} pods" if one["pods"] not in (None, pods) else ""


wanted = [one for one in cases if len(sys.argv) < 2 or one["name"] in sys.argv[1:]]
answers = [create(one) for one in wanted]
failed = 0
for one, answer in zip(wanted, answers):
    wrong = wrong_with(one, answer)
    failed += bool(wrong)
    print(f"FAIL workflow_corners: {one['name']}: {wrong}" if wrong else f"ok workflow_corners: {one['name']}", flush=True)
sys.exit(failed > 0)
