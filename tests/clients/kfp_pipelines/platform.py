"""Pipelines that say where and how a step runs: claims, secrets, config maps, labels, limits, dynamic values."""

from kfp import dsl, kubernetes

from .table import case, python


@python
def environment(names: list) -> str:
    import os
    return "|".join(os.environ.get(name, "-") for name in names)


@python
def read_file(path: str) -> str:
    return open(path).read()


@python
def write_file(path: str, text: str):
    with open(path, "w") as file:
        file.write(text)


@python
def volumes() -> str:
    import os
    import shutil
    return f"{os.path.ismount('/scratch')} {shutil.disk_usage('/dev/shm').total >> 20}"


@python
def greedy() -> str:
    return str(len(bytearray(300 << 20)))


@python
def sleep(seconds: int):
    import time
    time.sleep(seconds)


OBJECTS = """
apiVersion: v1
kind: Secret
metadata: {name: key}
stringData: {token: "se cret"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {level: "five", other: "six"}
"""


@case(expect={"Output": "value|-"})
@dsl.pipeline(name="environment")
def environment_of_a_step() -> str:
    one = environment(names=["SET_HERE", "NOT_SET_HERE"])
    one.set_env_variable("SET_HERE", "value")
    return one.output


@case(before=OBJECTS, expect={"Output": "se cret|five"}, local=False)
@dsl.pipeline(name="secrets-as-environment")
def secrets_as_environment() -> str:
    one = environment(names=["TOKEN", "LEVEL"])
    kubernetes.use_secret_as_env(one, secret_name="key", secret_key_to_env={"token": "TOKEN"})
    kubernetes.use_config_map_as_env(one, config_map_name="settings", config_map_key_to_env={"level": "LEVEL"})
    return one.output


@case(expect={"Output": "se cret"}, local=False)
@dsl.pipeline(name="secrets-as-files")
def secrets_as_files(name: str = "key") -> str:
    one = read_file(path="/mnt/key/token")
    kubernetes.use_secret_as_volume(one, secret_name=name, mount_path="/mnt/key")
    kubernetes.use_config_map_as_volume(one, config_map_name="settings", mount_path="/mnt/settings", optional=True)
    return one.output


@case(expect={"Output": "kept"}, local=False)
@dsl.pipeline(name="claims")
def claims() -> str:
    claim = kubernetes.CreatePVC(pvc_name_suffix="-data", access_modes=["ReadWriteOnce"], size="20Mi", storage_class_name="standard")
    one = write_file(path="/data/file", text="kept")
    kubernetes.mount_pvc(one, pvc_name=claim.outputs["name"], mount_path="/data")
    two = read_file(path="/data/file").after(one)
    kubernetes.mount_pvc(two, pvc_name=claim.outputs["name"], mount_path="/data")
    kubernetes.DeletePVC(pvc_name=claim.outputs["name"]).after(two)
    return two.output


@case(expect={"Output": "True 48"}, local=False)
@dsl.pipeline(name="volumes")
def volumes_of_a_step() -> str:
    one = volumes()
    kubernetes.empty_dir_mount(one, volume_name="scratch", mount_path="/scratch", size_limit="10Mi")
    kubernetes.empty_dir_mount(one, volume_name="shm", mount_path="/dev/shm", medium="Memory", size_limit="48Mi")
    kubernetes.add_ephemeral_volume(one, volume_name="own", mount_path="/own", access_modes=["ReadWriteOnce"], size="10Mi",
                                    storage_class_name="standard")
    return one.output


def labelled(run):
    pod = run["pod"]("root.environment")
    return (pod["metadata"]["labels"].get("team") == "ml" and pod["metadata"]["annotations"].get("note") == "a note" and
            pod["spec"]["nodeSelector"] == {"kubernetes.io/os": "linux"} and
            {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"} in pod["spec"]["tolerations"] and
            pod["spec"]["containers"][0]["imagePullPolicy"] == "Never" and pod["spec"]["imagePullSecrets"] == [{"name": "pull"}] and
            pod["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "500m", "memory": "256Mi"}, "requests": {"cpu": "250m", "memory": "128Mi"}} and
            pod["spec"]["activeDeadlineSeconds"] == 77)


@case(expect=lambda out, run: out["Output"] == run["pod"]("root.environment")["metadata"]["name"] and labelled(run), local=False)
@dsl.pipeline(name="pods-of-steps")
def pods_of_steps() -> str:
    one = environment(names=["POD"])
    kubernetes.add_pod_label(one, "team", "ml")
    kubernetes.add_pod_annotation(one, "note", "a note")
    kubernetes.add_node_selector(one, "kubernetes.io/os", "linux")
    kubernetes.add_toleration(one, key="gpu", operator="Exists", effect="NoSchedule")
    kubernetes.set_image_pull_policy(one, "Never")
    kubernetes.set_image_pull_secrets(one, ["pull"])
    kubernetes.use_field_path_as_env(one, env_name="POD", field_path="metadata.name")
    kubernetes.set_timeout(one, 77)
    one.set_cpu_request("250m").set_cpu_limit("500m").set_memory_request("128Mi").set_memory_limit("256Mi")
    return one.output


@case(expect=lambda out, run: run["pod"]("root.environment")["spec"]["containers"][0]["resources"]["limits"]["memory"] in ("200M", "200Mi", "200000000") and
      run["pod"]("root.environment")["spec"]["containers"][0]["image"] == "other:1", arguments={"memory": "200M"}, local=False)
@dsl.pipeline(name="values-given-late")
def values_given_late(memory: str, image: str = "other:1") -> str:
    one = environment(names=["X"])
    one.set_memory_limit(memory)
    one.set_container_image(image)
    return one.output


@case(state="FAILED", error="exit code", local=False)
@dsl.pipeline(name="no-such-field")
def too_little_memory() -> str:
    one = greedy()
    one.set_memory_limit("64Mi")
    return one.output


@case(state="FAILED", error="longer than", local=False)
@dsl.pipeline(name="too-slow")
def too_slow():
    one = sleep(seconds=60)
    kubernetes.set_timeout(one, 1)


@case(expect={"Output": "kept here"}, local=False)
@dsl.pipeline(name="workspaces", pipeline_config=dsl.PipelineConfig(workspace=dsl.WorkspaceConfig(size="10Mi", kubernetes=dsl.KubernetesWorkspaceConfig(
    pvcSpecPatch={"accessModes": ["ReadWriteOnce"]}))))
def workspaces() -> str:
    one = write_file(path=f"{dsl.WORKSPACE_PATH_PLACEHOLDER}/file", text="kept here")
    return read_file(path=f"{dsl.WORKSPACE_PATH_PLACEHOLDER}/file").after(one).output
