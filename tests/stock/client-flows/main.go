// Command client-flows goes through what programs do with client-go, as they do it, and prints a line for each flow: "ok NAME" or "FAIL NAME: why".
// usage: client-flows --kubeconfig FILE [--pods] [--content-type TYPE] [NAME...]   (--pods: nodes run pods, so that streams into them are tried, too)
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What every flow is given. Flows share a namespace, and name what they make by themselves.
type world struct {
	config    *rest.Config
	client    kubernetes.Interface
	dynamic   dynamic.Interface
	namespace string
}

type flow struct {
	name  string
	pods  bool // needs a node that runs pods
	steps func(context.Context, world) error
}

var flows = []flow{
	{"discovery", false, discoverKinds},
	{"informers", false, shareInformers},
	{"informers-after-cuts", false, outliveCuts},
	{"watch-list", false, watchList},
	{"retry-watcher", false, watchAgain},
	{"metadata", false, askMetadata},
	{"leader-election", false, electLeaders},
	{"pages", false, turnPages},
	{"exact-pages", false, turnExactPages},
	{"patches", false, patchKinds},
	{"server-side-apply", false, applyServerSide},
	{"definitions", false, defineKinds},
	{"errors", false, tellErrors},
	{"preconditions", false, keepPreconditions},
	{"events", false, recordEvents},
	{"accounts", false, useAccounts},
	{"eviction", false, evictPods},
	{"certificates", false, signCertificates},
	{"autoscaling-v1", false, scaleByVersionOne},
	{"exec", true, execIntoPods},
	{"port-forward", true, forwardPorts},
	{"logs", true, followLogs},
}

func main() {
	file := flag.String("kubeconfig", os.Getenv("KUBECONFIG"), "how to reach the server")
	pods := flag.Bool("pods", false, "nodes run pods here")
	form := flag.String("content-type", "", "of what typed clients send, and ask for before JSON")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *file)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if *form != "" {
		config.ContentType, config.AcceptContentTypes = *form, *form+",application/json"
	}
	config.QPS, config.Burst = 500, 1000
	w := world{config: config, client: kubernetes.NewForConfigOrDie(config), dynamic: dynamic.NewForConfigOrDie(config), namespace: "client-flows"}
	ctx, end := context.WithTimeout(context.Background(), 5*time.Minute)
	defer end()
	if err := makeNamespace(ctx, w); err != nil {
		fmt.Println("FAIL namespace:", err)
		os.Exit(1)
	}
	failed := false
	for _, f := range flows {
		if (flag.NArg() > 0 && !slices.Contains(flag.Args(), f.name)) || (f.pods && !*pods) {
			continue
		}
		steps, stop := context.WithTimeout(ctx, time.Minute)
		if err := f.steps(steps, w); err != nil {
			fmt.Printf("FAIL %s: %v\n", f.name, err)
			failed = true
		} else {
			fmt.Println("ok", f.name)
		}
		stop()
	}
	if failed {
		os.Exit(1)
	}
}

func makeNamespace(ctx context.Context, w world) error {
	_, err := w.client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return until(ctx, "the account of the namespace", func() (bool, error) {
		_, err := w.client.CoreV1().ServiceAccounts(w.namespace).Get(ctx, "default", metav1.GetOptions{})
		return err == nil, nil
	})
}

// Waits until a fact holds, and names it where it does not.
func until(ctx context.Context, fact string, holds func() (bool, error)) error {
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) { return holds() })
	if err != nil {
		return fmt.Errorf("%s: %w", fact, err)
	}
	return nil
}

func configMap(name string, labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Data: map[string]string{"a": "b"}}
}
