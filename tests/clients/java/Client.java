// fabric8's client as it is, against the cluster of $KUBECONFIG: a watch, a command in a pod, logs, and a forwarded port.
import io.fabric8.kubernetes.api.model.*;
import io.fabric8.kubernetes.client.*;
import io.fabric8.kubernetes.client.dsl.*;
import java.io.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.*;

public class Client {
  static void check(String name, boolean ok, Object more) {
    System.out.println(ok ? "ok clients: fabric8 " + name : "FAIL clients: fabric8 " + name + ": " + more);
  }

  static String page(int port) throws IOException {
    try (Socket socket = new Socket("127.0.0.1", port)) {
      socket.setSoTimeout(20000);
      socket.getOutputStream().write("GET / HTTP/1.0\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  static Pod server() {
    return new PodBuilder().withNewMetadata().withName("fabric8").endMetadata().withNewSpec().withTerminationGracePeriodSeconds(1L)
        .addNewContainer().withName("c").withImage("nginx:latest")
        .withCommand("python3", "-m", "http.server", "--bind", "127.0.0.1", "8000").endContainer().endSpec().build();
  }

  public static void main(String[] args) throws Exception {
    try (KubernetesClient client = new KubernetesClientBuilder().build()) {
      NonNamespaceOperation<Pod, PodList, PodResource> pods = client.pods().inNamespace("default");
      pods.resource(server()).create();
      Pod pod = pods.withName("fabric8").waitUntilReady(60, TimeUnit.SECONDS);
      check("waits until a pod is ready", pod.getStatus().getPhase().equals("Running"), pod.getStatus());

      ByteArrayOutputStream out = new ByteArrayOutputStream(), err = new ByteArrayOutputStream();
      try (ExecWatch exec = pods.withName("fabric8").writingOutput(out).writingError(err).exec("sh", "-c", "echo reached; echo aside >&2; exit 3")) {
        int code = exec.exitCode().get(30, TimeUnit.SECONDS);
        check("runs a command in a pod", code == 3 && out.toString().equals("reached\n") && err.toString().equals("aside\n"), code + out.toString() + err);
      }
      try (LocalPortForward forward = pods.withName("fabric8").portForward(8000)) {
        String first = page(forward.getLocalPort()), second = page(forward.getLocalPort());
        check("forwards a port, twice", first.contains("200 OK") && second.contains("Directory listing") && !forward.errorOccurred(),
            first + second + forward.getServerThrowables());
      }
      GenericKubernetesResource job = client.genericKubernetesResources("batch.volcano.sh/v1alpha1", "Job").inNamespace("default").load(new ByteArrayInputStream(
          """
          {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "fabric8"}, "spec": {"minAvailable": 1, "tasks": [{"name": "main",
           "replicas": 1, "template": {"spec": {"restartPolicy": "Never",
             "containers": [{"name": "c", "image": "nginx:latest", "command": ["sh", "-c", "echo done"]}]}}}]}}""".getBytes())).create();
      Resource<GenericKubernetesResource> seen = client.genericKubernetesResources("batch.volcano.sh/v1alpha1", "Job").inNamespace("default").withName("fabric8");
      GenericKubernetesResource done = seen.waitUntilCondition(one -> one != null && "Completed".equals(one.get("status", "state", "phase")), 60, TimeUnit.SECONDS);
      check("watches a job to its end", "Completed".equals(done.get("status", "state", "phase")), done);
      String log = pods.withName("fabric8-main-0").getLog();
      check("reads a log", log.equals("done\n"), log);
      ConfigMap map = new ConfigMapBuilder().withNewMetadata().withName("fabric8").endMetadata().withData(Map.of("a", "1")).build();
      client.configMaps().inNamespace("default").resource(map).serverSideApply();
      ConfigMap edited = client.configMaps().inNamespace("default").withName("fabric8").edit(one -> new ConfigMapBuilder(one).addToData("b", "2").build());
      check("applies and edits an object", edited.getData().equals(Map.of("a", "1", "b", "2")), edited.getData());
    }
  }
}
