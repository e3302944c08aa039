// Command reconciler is a small operator of controller-runtime: for every ConfigMap with the label reconciler/replicas it keeps a Deployment of that many
// pods, owned by the ConfigMap, and writes back how many there are. It prints "ok NAME" or "FAIL NAME: why" for what it tries, and ends.
// usage: reconciler --kubeconfig FILE
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	wanted    = "reconciler/replicas"
	counted   = "reconciler/counted"
	finalizer = "reconciler.example.test/finalizer"
)

type reconciler struct{ client.Client }

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var settings corev1.ConfigMap
	if err := r.Get(ctx, request.NamespacedName, &settings); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if settings.DeletionTimestamp != nil {
		if controllerutil.RemoveFinalizer(&settings, finalizer) {
			return ctrl.Result{}, r.Update(ctx, &settings)
		}
		return ctrl.Result{}, nil
	}
	replicas, err := strconv.Atoi(settings.Labels[wanted])
	if err != nil {
		return ctrl.Result{}, nil // not one of ours
	}
	if controllerutil.AddFinalizer(&settings, finalizer) {
		return ctrl.Result{}, r.Update(ctx, &settings)
	}
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: settings.Name, Namespace: settings.Namespace}}
	if _, err := controllerutil.CreateOrUpdate(ctx, r.Client, deployment, func() error {
		count := int32(replicas)
		labels := map[string]string{"app": settings.Name}
		deployment.Spec.Replicas = &count
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		deployment.Spec.Template.Labels = labels
		if len(deployment.Spec.Template.Spec.Containers) == 0 {
			deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "host", Command: []string{"sleep", "300"}}}
		}
		return controllerutil.SetControllerReference(&settings, deployment, r.Scheme())
	}); err != nil {
		return ctrl.Result{}, err
	}
	now := strconv.Itoa(int(deployment.Status.Replicas))
	if settings.Annotations[counted] == now {
		return ctrl.Result{}, nil
	}
	before := settings.DeepCopy()
	metav1.SetMetaDataAnnotation(&settings.ObjectMeta, counted, now)
	return ctrl.Result{}, r.Patch(ctx, &settings, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

func main() {
	ctrl.SetLogger(zap.New())
	ctx, end := context.WithTimeout(ctrl.SetupSignalHandler(), 3*time.Minute)
	defer end()
	manager, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{LeaderElection: true, LeaderElectionID: "reconciler.example.test", LeaderElectionNamespace: "default",
		LeaderElectionReleaseOnCancel: true, Metrics: server.Options{BindAddress: "0"}})
	if err == nil {
		err = ctrl.NewControllerManagedBy(manager).For(&corev1.ConfigMap{}).Owns(&appsv1.Deployment{}).Complete(&reconciler{manager.GetClient()})
	}
	if err != nil {
		fmt.Println("FAIL manager:", err)
		os.Exit(1)
	}
	direct, err := client.New(manager.GetConfig(), client.Options{}) // without a cache
	if err != nil {
		fmt.Println("FAIL client:", err)
		os.Exit(1)
	}
	own, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(own) }()
	failed := false
	for _, step := range []struct {
		name  string
		steps func(context.Context, client.Client, client.Client) error
	}{{"owns-and-counts", ownsAndCounts}, {"mends", mends}, {"takes-along", takesAlong}} {
		if err := step.steps(ctx, direct, manager.GetClient()); err != nil {
			fmt.Printf("FAIL %s: %v\n", step.name, err)
			failed = true
		} else {
			fmt.Println("ok", step.name)
		}
	}
	stop()
	if err := <-ended; err != nil {
		fmt.Println("FAIL manager:", err)
		failed = true
	}
	if failed {
		os.Exit(1)
	}
}

func until(ctx context.Context, fact string, holds func() (bool, error)) error {
	if err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 60*time.Second, true, func(context.Context) (bool, error) { return holds() }); err != nil {
		return fmt.Errorf("%s: %w", fact, err)
	}
	return nil
}

var key = client.ObjectKey{Namespace: "default", Name: "reconciled"}

func ownsAndCounts(ctx context.Context, direct, cached client.Client) error {
	if err := direct.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: key.Name, Namespace: key.Namespace, Labels: map[string]string{wanted: "2"}}}); err != nil {
		return err
	}
	return until(ctx, "two pods are counted", func() (bool, error) {
		var settings corev1.ConfigMap
		err := cached.Get(ctx, key, &settings)
		return settings.Annotations[counted] == "2", client.IgnoreNotFound(err)
	})
}

// Whatever somebody changes about what is owned is changed back.
func mends(ctx context.Context, direct, _ client.Client) error {
	var deployment appsv1.Deployment
	if err := direct.Get(ctx, key, &deployment); err != nil {
		return err
	}
	first := deployment.UID
	if err := direct.Delete(ctx, &deployment, client.PropagationPolicy(metav1.DeletePropagationForeground)); err != nil {
		return err
	}
	return until(ctx, "another Deployment", func() (bool, error) {
		var now appsv1.Deployment
		err := direct.Get(ctx, key, &now)
		return err == nil && now.UID != first && now.Status.Replicas == 2, client.IgnoreNotFound(err)
	})
}

func takesAlong(ctx context.Context, direct, _ client.Client) error {
	if err := direct.Delete(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: key.Name, Namespace: key.Namespace}}); err != nil {
		return err
	}
	return until(ctx, "the Deployment goes with its owner", func() (bool, error) {
		var deployment appsv1.Deployment
		return apierrors.IsNotFound(direct.Get(ctx, key, &deployment)), nil
	})
}
