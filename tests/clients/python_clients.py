"""The Python clients as they are, unchanged: kubeflow-training and kubernetes, against the cluster of $KUBECONFIG."""
import time

from kubernetes import client, config
from kubernetes.stream import portforward, stream
from kubeflow.training import TrainingClient, constants
from kubernetes.client import V1Container, V1PodSpec, V1PodTemplateSpec, V1ObjectMeta
from kubeflow.training import KubeflowOrgV1PyTorchJob, KubeflowOrgV1PyTorchJobSpec, KubeflowOrgV1ReplicaSpec, KubeflowOrgV1RunPolicy

config.load_kube_config()
training = TrainingClient(namespace="default")


def replica(command, replicas):
    container = V1Container(name="pytorch", image="nginx:latest", command=["sh", "-c", command])
    return KubeflowOrgV1ReplicaSpec(replicas=replicas, restart_policy="Never", template=V1PodTemplateSpec(
        metadata=V1ObjectMeta(annotations={"sidecar.istio.io/inject": "false"}), spec=V1PodSpec(containers=[container])))


def check(name, ok, more=""):
    print(f"ok clients: {name}" if ok else f"FAIL clients: {name}: {more}", flush=True)


job = KubeflowOrgV1PyTorchJob(api_version="kubeflow.org/v1", kind="PyTorchJob", metadata=V1ObjectMeta(name="sdk", namespace="default"),
                              spec=KubeflowOrgV1PyTorchJobSpec(run_policy=KubeflowOrgV1RunPolicy(clean_pod_policy="None"),
                                                               pytorch_replica_specs={"Master": replica("echo trained on rank $RANK; sleep 3", 1),
                                                                                      "Worker": replica("echo helped; sleep 1", 2)}))
training.create_job(job)
check("create_job and get_job", training.get_job("sdk", job_kind="PyTorchJob").metadata.name == "sdk")
done = training.wait_for_job_conditions("sdk", job_kind="PyTorchJob", expected_conditions={constants.JOB_CONDITION_SUCCEEDED},
                                        wait_timeout=90, polling_interval=1)
check("wait_for_job_conditions", done.status.conditions[-1].type == "Succeeded", done.status.conditions)
check("is_job_succeeded", training.is_job_succeeded("sdk", job_kind="PyTorchJob"))
names = sorted(training.get_job_pod_names("sdk"))
check("get_job_pod_names", names == ["sdk-master-0", "sdk-worker-0", "sdk-worker-1"], names)
logs, _ = training.get_job_logs("sdk", job_kind="PyTorchJob")
check("get_job_logs", any("trained on rank 0" in text for text in logs.values()), logs)
check("list_jobs", [one.metadata.name for one in training.list_jobs(job_kind="PyTorchJob")] == ["sdk"])
training.delete_job("sdk", job_kind="PyTorchJob")
core = client.CoreV1Api()
core.create_namespaced_pod("default", {"metadata": {"name": "shell"}, "spec": {"terminationGracePeriodSeconds": 1, "containers": [
    {"name": "c", "image": "nginx:latest", "command": ["python3", "-m", "http.server", "--bind", "127.0.0.1", "8000"]}]}})
end = time.time() + 30
while core.read_namespaced_pod("shell", "default").status.phase != "Running" and time.time() < end:
    time.sleep(0.2)
said = stream(core.connect_get_namespaced_pod_exec, "shell", "default", command=["sh", "-c", "echo reached; echo aside >&2"],
              stderr=True, stdin=False, stdout=True, tty=False)
check("stream runs a command in a pod", "reached" in said and "aside" in said, repr(said))


def page(port):
    """What the pod's server says over one forwarded connection, and what the channel of errors says."""
    forward = portforward(core.connect_get_namespaced_pod_portforward, "shell", "default", ports=str(port))
    socket = forward.socket(port)
    socket.settimeout(20)
    text = b""
    try:
        socket.sendall(b"GET / HTTP/1.0\r\nHost: x\r\n\r\n")
        while more := socket.recv(65536):
            text += more
    except OSError as error:
        text += str(error).encode()
    return text.decode(errors="replace"), forward.error(port)


end = time.time() + 20
while not (answer := page(8000))[0].startswith("HTTP/1.0 200") and time.time() < end:
    time.sleep(0.5)
check("portforward reaches a port of a pod", answer[0].startswith("HTTP/1.0 200") and not answer[1], answer)
answer = page(8001)
check("portforward says why a port fails", "error forwarding port 8001" in str(answer[1]), answer)
core.delete_namespaced_pod("shell", "default")
