"""Valid pods and volumes, with as many fields as they can have, for random_compare.py to break."""

LABELS = {"matchLabels": {"app": "a"}, "matchExpressions": [{"key": "tier", "operator": "In", "values": ["x", "y"]}, {"key": "gone", "operator": "DoesNotExist"}]}
TEMPLATE_LABELS = {"app": "a", "tier": "x"}


def container(name, /, **more):
    return dict({"name": name, "image": "registry.example.com/busybox:1.36"}, **more)


def volume(name, kind, /, **source):
    return {"name": name, kind: source}


PROBES = {
    "livenessProbe": {"httpGet": {"path": "/healthz", "port": "web", "scheme": "HTTPS", "host": "example.com", "httpHeaders": [{"name": "X-Probe", "value": "1"}]},
                      "initialDelaySeconds": 5, "timeoutSeconds": 2, "periodSeconds": 7, "successThreshold": 1, "failureThreshold": 4, "terminationGracePeriodSeconds": 9},
    "readinessProbe": {"exec": {"command": ["cat", "/ready"]}, "successThreshold": 2, "periodSeconds": 3},
    "startupProbe": {"grpc": {"port": 9000, "service": "health"}, "failureThreshold": 30},
}

RICH = {"restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "activeDeadlineSeconds": 600, "dnsPolicy": "None", "automountServiceAccountToken": False,
        "dnsConfig": {"nameservers": ["10.0.0.10", "2001:db8::1"], "searches": ["svc.cluster.local", "example.com"], "options": [{"name": "ndots", "value": "2"}, {"name": "edns0"}]},
        "nodeSelector": {"disk": "ssd", "example.com/zone": "a"}, "hostname": "web-0", "subdomain": "web", "setHostnameAsFQDN": True, "schedulerName": "other", "enableServiceLinks": False,
        "shareProcessNamespace": True, "imagePullSecrets": [{"name": "registry"}], "preemptionPolicy": "PreemptLowerPriority", "os": {"name": "linux"},
        "hostAliases": [{"ip": "10.1.2.3", "hostnames": ["db.local", "db"]}], "readinessGates": [{"conditionType": "example.com/ready"}],
        "securityContext": {"runAsUser": 1000, "runAsGroup": 1000, "runAsNonRoot": True, "fsGroup": 2000, "fsGroupChangePolicy": "OnRootMismatch", "supplementalGroups": [3000, 3001],
                            "supplementalGroupsPolicy": "Strict", "seLinuxOptions": {"level": "s0:c123,c456", "role": "r", "type": "t", "user": "u"}, "seLinuxChangePolicy": "Recursive",
                            "seccompProfile": {"type": "RuntimeDefault"}, "appArmorProfile": {"type": "Localhost", "localhostProfile": "mine"}, "sysctls": [{"name": "net.core.somaxconn", "value": "1024"}]},
        "containers": [
            container("web", command=["/bin/sh"], args=["-c", "sleep 1"], workingDir="/work", imagePullPolicy="IfNotPresent", terminationMessagePath="/dev/log", terminationMessagePolicy="FallbackToLogsOnError",
                      stdin=True, stdinOnce=True, tty=True,
                      ports=[{"name": "web", "containerPort": 8080, "protocol": "TCP", "hostPort": 8081, "hostIP": "127.0.0.1"}, {"name": "dns", "containerPort": 53, "protocol": "UDP"}],
                      env=[{"name": "PLAIN", "value": "1"}, {"name": "NODE", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}}},
                           {"name": "LABEL", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}},
                           {"name": "CPU", "valueFrom": {"resourceFieldRef": {"containerName": "web", "resource": "limits.cpu", "divisor": "1m"}}},
                           {"name": "MAP", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "a", "optional": True}}},
                           {"name": "SECRET", "valueFrom": {"secretKeyRef": {"name": "secret", "key": "password"}}}],
                      envFrom=[{"prefix": "P_", "configMapRef": {"name": "settings", "optional": True}}, {"secretRef": {"name": "secret"}}],
                      resources={"requests": {"cpu": "100m", "memory": "64Mi", "ephemeral-storage": "1Gi", "example.com/gpu": "1"}, "limits": {"cpu": "1", "memory": "128Mi", "ephemeral-storage": "2Gi", "example.com/gpu": "1"}},
                      resizePolicy=[{"resourceName": "cpu", "restartPolicy": "NotRequired"}, {"resourceName": "memory", "restartPolicy": "RestartContainer"}],
                      securityContext={"runAsUser": 1000, "runAsGroup": 1000, "runAsNonRoot": True, "readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False, "privileged": False, "procMount": "Default",
                                       "capabilities": {"add": ["NET_ADMIN"], "drop": ["ALL"]}, "seccompProfile": {"type": "Localhost", "localhostProfile": "profiles/a.json"}},
                      lifecycle={"postStart": {"exec": {"command": ["true"]}}, "preStop": {"httpGet": {"port": 8080, "path": "/stop"}}},
                      volumeMounts=[{"name": "scratch", "mountPath": "/scratch", "subPath": "a/b", "mountPropagation": "HostToContainer"}, {"name": "config", "mountPath": "/config", "readOnly": True, "recursiveReadOnly": "IfPossible"},
                                    {"name": "scratch", "mountPath": "/expr", "subPathExpr": "$(PLAIN)"}],
                      volumeDevices=[{"name": "block", "devicePath": "/dev/xvda"}], **PROBES),
            container("side", image="busybox", lifecycle={"preStop": {"sleep": {"seconds": 5}}}, livenessProbe={"tcpSocket": {"port": 80, "host": "10.0.0.1"}}, resources={"limits": {"cpu": "1500m", "hugepages-2Mi": "4Mi"}})],
        "initContainers": [container("init", command=["true"], env=[{"name": "A", "value": "b"}], volumeMounts=[{"name": "scratch", "mountPath": "/scratch"}]),
                           container("sidecar", restartPolicy="Always", startupProbe={"tcpSocket": {"port": 80}}, resources={"requests": {"cpu": "10m"}})],
        "volumes": [volume("scratch", "emptyDir", medium="Memory", sizeLimit="64Mi"), volume("config", "configMap", name="settings", defaultMode=0o440, optional=True, items=[{"key": "a", "path": "dir/a", "mode": 0o400}]),
                    volume("block", "persistentVolumeClaim", claimName="block", readOnly=False)]}

PLACED = {"restartPolicy": "OnFailure", "priorityClassName": "system-node-critical", "automountServiceAccountToken": False, "serviceAccountName": "default",
          "containers": [container("c", resources={"claims": [{"name": "gpu", "request": "r"}], "requests": {"cpu": "1"}})], "schedulingGates": [{"name": "example.com/wait"}],
          "resourceClaims": [{"name": "gpu", "resourceClaimName": "gpu-claim"}, {"name": "net", "resourceClaimTemplateName": "net-template"}],
          "tolerations": [{"key": "dedicated", "operator": "Equal", "value": "batch", "effect": "NoSchedule"}, {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}, {"operator": "Exists"}],
          "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": LABELS, "minDomains": 2, "nodeAffinityPolicy": "Honor", "nodeTaintsPolicy": "Ignore", "matchLabelKeys": ["rev"]},
                                        {"maxSkew": 2, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway"}],
          "affinity": {
              "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                  {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}, {"key": "cores", "operator": "Gt", "values": ["4"]}, {"key": "old", "operator": "DoesNotExist"}],
                   "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-1"]}]}]},
                               "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 10, "preference": {"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["b"]}]}}]},
              "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"labelSelector": LABELS, "topologyKey": "zone", "namespaces": ["probe"], "namespaceSelector": {"matchLabels": {"team": "a"}}, "matchLabelKeys": ["rev"], "mismatchLabelKeys": ["tenant"]}],
                              "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 50, "podAffinityTerm": {"labelSelector": LABELS, "topologyKey": "kubernetes.io/hostname"}}]},
              "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"labelSelector": LABELS, "topologyKey": "kubernetes.io/hostname"}],
                                  "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 100, "podAffinityTerm": {"labelSelector": {"matchLabels": {"x": "y"}}, "topologyKey": "zone", "namespaceSelector": {}}}]}}}

HOSTED = {"hostNetwork": True, "hostPID": True, "hostIPC": True, "dnsPolicy": "ClusterFirstWithHostNet", "restartPolicy": "Never", "automountServiceAccountToken": False, "nodeName": "node-1",
          "securityContext": {"seccompProfile": {"type": "Unconfined"}, "fsGroup": 0},
          "containers": [container("c", ports=[{"containerPort": 80, "hostPort": 80}], securityContext={"privileged": True, "capabilities": {"add": ["SYS_ADMIN"]}}, volumeMounts=[{"name": "host", "mountPath": "/host", "mountPropagation": "Bidirectional"}])],
          "volumes": [volume("host", "hostPath", path="/var/lib", type="Directory")]}

WINDOWS = {"os": {"name": "windows"}, "automountServiceAccountToken": False, "securityContext": {"windowsOptions": {"gmsaCredentialSpecName": "gmsa", "runAsUserName": "ContainerUser", "hostProcess": False}},
           "containers": [container("c", securityContext={"windowsOptions": {"runAsUserName": "ContainerAdministrator"}})]}

SUMMED = {"automountServiceAccountToken": False, "hostUsers": False, "resources": {"requests": {"cpu": "2", "memory": "1Gi"}, "limits": {"cpu": "4", "memory": "2Gi"}},
          "containers": [container("c", resources={"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}), container("d", restartPolicy="Never", restartPolicyRules=[{"action": "Restart", "exitCodes": {"operator": "In", "values": [42]}}])]}

VOLUMES = [
    volume("secret", "secret", secretName="s", defaultMode=0o400, optional=False, items=[{"key": "password", "path": "p", "mode": 0o400}]),
    volume("downward", "downwardAPI", defaultMode=0o444, items=[{"path": "labels", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.labels"}, "mode": 0o400},
                                                                {"path": "cpu", "resourceFieldRef": {"containerName": "c", "resource": "limits.cpu", "divisor": "1m"}}]),
    volume("projected", "projected", defaultMode=0o444, sources=[
        {"serviceAccountToken": {"audience": "vault", "expirationSeconds": 3600, "path": "token"}}, {"configMap": {"name": "m", "items": [{"key": "a", "path": "a"}]}},
        {"secret": {"name": "s", "items": [{"key": "b", "path": "b", "mode": 0o400}], "optional": True}}, {"downwardAPI": {"items": [{"path": "name", "fieldRef": {"fieldPath": "metadata.name"}}]}},
        {"clusterTrustBundle": {"signerName": "example.com/signer", "labelSelector": {"matchLabels": {"a": "b"}}, "path": "ca.pem", "optional": True}}]),
    volume("claim", "persistentVolumeClaim", claimName="claim", readOnly=True), volume("image", "image", reference="quay.io/a/b:v1", pullPolicy="IfNotPresent"),
    volume("ephemeral", "ephemeral", volumeClaimTemplate={"metadata": {"labels": {"a": "b"}}, "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "fast", "resources": {"requests": {"storage": "1Gi"}}}}),
    volume("csi", "csi", driver="inline.example.com", fsType="ext4", readOnly=True, nodePublishSecretRef={"name": "s"}, volumeAttributes={"a": "b"}),
    volume("nfs", "nfs", server="nfs.example.com", path="/exports", readOnly=True), volume("host", "hostPath", path="/data", type="DirectoryOrCreate"),
    volume("iscsi", "iscsi", targetPortal="10.0.2.15:3260", iqn="iqn.2001-04.com.example:storage.kube.sys1.xyz", lun=0, fsType="ext4", portals=["10.0.2.16:3260"], chapAuthSession=True, secretRef={"name": "chap"}, initiatorName="iqn.2001-04.com.example:a"),
    volume("fc", "fc", targetWWNs=["500a0982991b8dc5"], lun=2, fsType="ext4"), volume("rbd", "rbd", monitors=["10.16.154.78:6789"], pool="kube", image="foo", fsType="ext4", secretRef={"name": "ceph"}),
    volume("cephfs", "cephfs", monitors=["10.16.154.78:6789"], user="admin", secretRef={"name": "ceph"}), volume("gluster", "glusterfs", endpoints="glusterfs-cluster", path="kube_vol"),
    volume("ebs", "awsElasticBlockStore", volumeID="vol-1", fsType="ext4", partition=1), volume("pd", "gcePersistentDisk", pdName="disk", fsType="ext4", partition=1),
    volume("azure", "azureDisk", diskName="d", diskURI="/subscriptions/x/disks/d", kind="Managed", cachingMode="ReadOnly"), volume("azfile", "azureFile", secretName="s", shareName="share"),
    volume("cinder", "cinder", volumeID="v"), volume("flex", "flexVolume", driver="example.com/lvm", options={"size": "1"}), volume("git", "gitRepo", repository="https://example.com/r.git", directory="sub"),
    volume("vsphere", "vsphereVolume", volumePath="[store] v"), volume("quobyte", "quobyte", registry="r:7861", volume="v"), volume("portworx", "portworxVolume", volumeID="v"),
    volume("scaleio", "scaleIO", gateway="https://l/api", system="s", secretRef={"name": "s"}, volumeName="v"), volume("photon", "photonPersistentDisk", pdID="p"),
    volume("storageos", "storageos", volumeName="v"), volume("flocker", "flocker", datasetName="d")]
STORED = {"automountServiceAccountToken": False, "containers": [container("c", resources={"limits": {"cpu": "1"}}, volumeMounts=[{"name": one["name"], "mountPath": "/" + one["name"]} for one in VOLUMES])], "volumes": VOLUMES}

PODS = {"rich": RICH, "placed": PLACED, "hosted": HOSTED, "windows": WINDOWS, "summed": SUMMED, "stored": STORED}
