"""kubeflow-training and kubernetes, unchanged, against the stock API server of $KUBECONFIG.

The nodes are KWOK's: pods run because their status says so, and end when this program says so in place of a kubelet.
"""
import datetime

from kubernetes import client, config, watch
from kubernetes.client import V1Container, V1ObjectMeta, V1PodSpec, V1PodTemplateSpec
from kubeflow import training as sdk
from kubeflow.training import TrainingClient, constants

NAMESPACE = "default"
config.load_kube_config()
training = TrainingClient(namespace=NAMESPACE)
core = client.CoreV1Api()
custom = client.CustomObjectsApi()


def check(name, ok, more=""):
    print(f"ok stock clients: {name}" if ok else f"FAIL stock clients: {name}: {more}", flush=True)


def replica(container, replicas):
    pod = V1PodSpec(containers=[V1Container(name=container, image="work", command=["work"])])
    return sdk.KubeflowOrgV1ReplicaSpec(replicas=replicas, restart_policy="Never", template=V1PodTemplateSpec(
        metadata=V1ObjectMeta(annotations={"sidecar.istio.io/inject": "false"}), spec=pod))


def job(kind, name, field, replicas, **more):
    spec = getattr(sdk, f"KubeflowOrgV1{kind}Spec")(run_policy=sdk.KubeflowOrgV1RunPolicy(clean_pod_policy="None"), **{field: replicas}, **more)
    return getattr(sdk, f"KubeflowOrgV1{kind}")(api_version="kubeflow.org/v1", kind=kind, metadata=V1ObjectMeta(name=name, namespace=NAMESPACE), spec=spec)


def wait_for(name, kind, condition):
    try:
        return training.wait_for_job_conditions(name, job_kind=kind, expected_conditions={condition}, wait_timeout=90, polling_interval=1)
    except (TimeoutError, RuntimeError) as trouble:
        check(f"{kind} is {condition}", False, trouble)
        return None


def end_pod(name, container, code=0):
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    ended = {"terminated": {"exitCode": code, "startedAt": now, "finishedAt": now}}
    core.patch_namespaced_pod_status(name, NAMESPACE, {"status": {"phase": "Failed" if code else "Succeeded", "containerStatuses": [
        {"name": container, "image": "work", "imageID": "", "ready": False, "restartCount": 0, "state": ended}]}})


def the_training_client_lives_through_a_job():
    training.create_job(job("PyTorchJob", "sdk", "pytorch_replica_specs", {"Master": replica("pytorch", 1), "Worker": replica("pytorch", 2)}))
    check("create_job and get_job", training.get_job("sdk", job_kind="PyTorchJob").metadata.name == "sdk")
    running = wait_for("sdk", "PyTorchJob", constants.JOB_CONDITION_RUNNING)
    check("wait_for_job_conditions: Running", running is not None)
    check("is_job_created, is_job_running", training.is_job_created("sdk", job_kind="PyTorchJob") and training.is_job_running("sdk", job_kind="PyTorchJob"))
    kinds = [one.type for one in training.get_job_conditions("sdk", job_kind="PyTorchJob")]
    check("get_job_conditions", kinds == ["Created", "Running"], kinds)
    names = sorted(training.get_job_pod_names("sdk"))
    check("get_job_pod_names", names == ["sdk-master-0", "sdk-worker-0", "sdk-worker-1"], names)
    masters = training.get_job_pod_names("sdk", is_master=True)
    check("get_job_pod_names of the master", masters == ["sdk-master-0"], masters)
    pods = training.get_job_pods("sdk", replica_type="worker", replica_index=1)
    check("get_job_pods", [pod.metadata.name for pod in pods] == ["sdk-worker-1"], pods)
    group = custom.get_namespaced_custom_object("scheduling.volcano.sh", "v1beta1", NAMESPACE, "podgroups", "sdk")
    check("the gang's group", group["spec"]["minMember"] == 3, group)
    end_pod("sdk-master-0", "pytorch")
    done = wait_for("sdk", "PyTorchJob", constants.JOB_CONDITION_SUCCEEDED)
    check("wait_for_job_conditions: Succeeded", done is not None and done.status.conditions[-1].type == "Succeeded")
    check("is_job_succeeded", training.is_job_succeeded("sdk", job_kind="PyTorchJob"))
    print("skip stock clients: get_job_logs: the nodes have no kubelet that keeps logs; tests/clients asks for them", flush=True)
    print("skip stock clients: train: it fetches its model and data from a hub", flush=True)
    check("list_jobs", [one.metadata.name for one in training.list_jobs(job_kind="PyTorchJob")] == ["sdk"])
    training.delete_job("sdk", job_kind="PyTorchJob")
    check("delete_job", training.list_jobs(job_kind="PyTorchJob") == [])


def a_failure_is_told():
    training.create_job(job("PyTorchJob", "broken", "pytorch_replica_specs", {"Worker": replica("pytorch", 1)}))
    if wait_for("broken", "PyTorchJob", constants.JOB_CONDITION_RUNNING) is None:
        return
    end_pod("broken-worker-0", "pytorch", 3)
    try:
        training.wait_for_job_conditions("broken", job_kind="PyTorchJob", wait_timeout=60, polling_interval=1)
        check("a job that fails", False, "it is waited for in vain")
    except RuntimeError as trouble:
        check("a job that fails", "broken" in str(trouble) and "Failed" in str(trouble), trouble)
    check("is_job_failed", training.is_job_failed("broken", job_kind="PyTorchJob"))
    training.delete_job("broken", job_kind="PyTorchJob")


def every_kind_runs():
    kinds = {
        "TFJob": ("tf_replica_specs", {"PS": replica("tensorflow", 1), "Worker": replica("tensorflow", 2)}, {}),
        "MPIJob": ("mpi_replica_specs", {"Launcher": replica("mpi", 1), "Worker": replica("mpi", 2)}, {"slots_per_worker": 1}),
        "XGBoostJob": ("xgb_replica_specs", {"Master": replica("xgboost", 1), "Worker": replica("xgboost", 1)}, {}),
        "PaddleJob": ("paddle_replica_specs", {"Worker": replica("paddle", 2)}, {}),
        "JAXJob": ("jax_replica_specs", {"Worker": replica("jax", 2)}, {}),
    }
    for kind, (field, replicas, more) in kinds.items():
        name = f"one-{kind.lower()}"
        training.create_job(job(kind, name, field, replicas, **more))
        got = wait_for(name, kind, constants.JOB_CONDITION_RUNNING)
        wanted = sum(one.replicas for one in replicas.values())
        pods = training.get_job_pod_names(name)
        check(f"{kind} runs", got is not None and len(pods) == wanted, pods)
        training.delete_job(name, job_kind=kind)


def the_kubernetes_client_watches_scales_and_suspends():
    of_jobs = ("kubeflow.org", "v1", NAMESPACE, "pytorchjobs")
    custom.create_namespaced_custom_object(*of_jobs, {
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": {"name": "elastic"},
        "spec": {"elasticPolicy": {"minReplicas": 1, "maxReplicas": 4}, "pytorchReplicaSpecs": {"Worker": {
            "replicas": 2, "template": {"spec": {"containers": [{"name": "pytorch", "image": "work", "command": ["work"]}]}}}}}})
    seen = []
    for event in watch.Watch().stream(custom.list_namespaced_custom_object, *of_jobs, timeout_seconds=60):
        status = event["object"].get("status", {})
        state = (status.get("conditions") or [{"type": ""}])[-1]["type"]
        if state and state not in seen:
            seen.append(state)
        if status.get("replicaStatuses", {}).get("Worker", {}).get("active") == 2:
            break
    check("watch", seen == ["Created", "Running"], seen)
    scale = custom.get_namespaced_custom_object_scale(*of_jobs, "elastic")
    check("scale", scale["spec"]["replicas"] == 2 and scale["status"]["replicas"] == 2 and "training.kubeflow.org/job-name=elastic" in scale["status"]["selector"], scale)
    custom.patch_namespaced_custom_object_scale(*of_jobs, "elastic", {"spec": {"replicas": 3}})
    workers = 0
    for event in watch.Watch().stream(core.list_namespaced_pod, NAMESPACE, label_selector=scale["status"]["selector"], timeout_seconds=60):
        workers += event["type"] == "ADDED"
        if workers == 3:
            break
    check("a worker more", workers == 3, workers)
    custom.patch_namespaced_custom_object(*of_jobs, "elastic", {"spec": {"runPolicy": {"suspend": True}}})
    state = ""
    for event in watch.Watch().stream(custom.list_namespaced_custom_object, *of_jobs, timeout_seconds=60):
        state = event["object"]["status"]["conditions"][-1]["type"]
        if state == "Suspended":
            break
    check("suspended", state == "Suspended", state)
    custom.delete_namespaced_custom_object(*of_jobs, "elastic")


the_training_client_lives_through_a_job()
a_failure_is_told()
every_kind_runs()
the_kubernetes_client_watches_scales_and_suspends()
