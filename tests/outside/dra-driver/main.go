// dra-driver is a driver of Dynamic Resource Allocation made with the library that drivers are made with
// (k8s.io/dynamic-resource-allocation/kubeletplugin): two devices, and a CDI specification for each claim.
//
//	dra-driver KUBECONFIG REGISTRY_FOLDER OWN_FOLDER CDI_FOLDER NODE
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/dynamic-resource-allocation/kubeletplugin"
	"k8s.io/dynamic-resource-allocation/resourceslice"
)

const name = "go.test"

type driver struct{ cdi string }

func (d *driver) spec(uid types.UID) string { return filepath.Join(d.cdi, "go-"+string(uid)+".json") }

func (d *driver) prepare(claim *resourceapi.ResourceClaim) (result kubeletplugin.PrepareResult) {
	fmt.Println("prepare", claim.Name)
	spec := fmt.Sprintf(`{"cdiVersion": "0.6.0", "kind": "%s/claim", "devices": [{"name": "%s", "containerEdits": {"env": ["CLAIM=%s"]}}]}`, name, claim.UID, claim.Name)
	if result.Err = os.WriteFile(d.spec(claim.UID), []byte(spec), 0o644); result.Err != nil {
		return result
	}
	for _, one := range claim.Status.Allocation.Devices.Results {
		result.Devices = append(result.Devices, kubeletplugin.Device{
			Requests: []string{one.Request}, PoolName: one.Pool, DeviceName: one.Device, CDIDeviceIDs: []string{name + "/claim=" + string(claim.UID)}})
	}
	return result
}

func (d *driver) PrepareResourceClaims(_ context.Context, claims []*resourceapi.ResourceClaim) (map[types.UID]kubeletplugin.PrepareResult, error) {
	results := map[types.UID]kubeletplugin.PrepareResult{}
	for _, claim := range claims {
		results[claim.UID] = d.prepare(claim)
	}
	return results, nil
}

func (d *driver) UnprepareResourceClaims(_ context.Context, claims []kubeletplugin.NamespacedObject) (map[types.UID]error, error) {
	results := map[types.UID]error{}
	for _, claim := range claims {
		fmt.Println("unprepare", claim.Name)
		results[claim.UID] = os.Remove(d.spec(claim.UID))
	}
	return results, nil
}

func (d *driver) HandleError(_ context.Context, err error, message string) {
	fmt.Println("error", message, err)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	must(err)
	node := os.Args[5]
	helper, err := kubeletplugin.Start(ctx, &driver{os.Args[4]}, kubeletplugin.DriverName(name), kubeletplugin.NodeName(node), kubeletplugin.KubeClient(kubernetes.NewForConfigOrDie(config)),
		kubeletplugin.RegistrarDirectoryPath(os.Args[2]), kubeletplugin.PluginDataDirectoryPath(os.Args[3]))
	must(err)
	devices := []resourceapi.Device{{Name: "one"}, {Name: "two"}}
	must(helper.PublishResources(ctx, resourceslice.DriverResources{Pools: map[string]resourceslice.Pool{node: {Slices: []resourceslice.Slice{{Devices: devices}}}}}))
	<-ctx.Done()
	helper.Stop()
}
