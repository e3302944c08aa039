// Writes: patches of every kind, server-side apply, kinds of one's own, what is refused and how, leader election, accounts.
package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/retry"
)

func wants(err error, reason metav1.StatusReason) error {
	if err == nil {
		return fmt.Errorf("no error where %s is due", reason)
	}
	if got := apierrors.ReasonForError(err); got != reason {
		return fmt.Errorf("reason %q instead of %q: %v", got, reason, err)
	}
	return nil
}

func discoverKinds(ctx context.Context, w world) error {
	client := discovery.NewDiscoveryClientForConfigOrDie(w.config)
	version, err := client.ServerVersion()
	if err != nil || version.Major != "1" {
		return fmt.Errorf("version %v: %w", version, err)
	}
	if _, _, err := client.ServerGroupsAndResources(); err != nil {
		return err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
	for kind, resource := range map[schema.GroupKind]string{{Group: "apps", Kind: "Deployment"}: "deployments", {Group: "batch.volcano.sh", Kind: "Job"}: "jobs", {Kind: "Pod"}: "pods",
		{Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}: "certificatesigningrequests", {Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}: "horizontalpodautoscalers"} {
		mapping, err := mapper.RESTMapping(kind)
		if err != nil {
			return err
		}
		if mapping.Resource.Resource != resource {
			return fmt.Errorf("%v is %v", kind, mapping.Resource)
		}
	}
	paths, err := client.OpenAPIV3().Paths()
	if err != nil || paths["apis/apps/v1"] == nil {
		return fmt.Errorf("no OpenAPI of apps/v1: %w", err)
	}
	_, err = paths["apis/apps/v1"].Schema("application/json")
	return err
}

func patchKinds(ctx context.Context, w world) error {
	deployments := w.client.AppsV1().Deployments(w.namespace)
	zero := int32(0)
	made := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "patched"}, Spec: appsv1.DeploymentSpec{Replicas: &zero, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "patched"}},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "patched"}}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "busybox"}}}}}}
	if _, err := deployments.Create(ctx, made, metav1.CreateOptions{}); err != nil {
		return err
	}
	strategic := []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"b","image":"busybox"},{"name":"a","env":[{"name":"X","value":"1"}]}]}}}}`)
	got, err := deployments.Patch(ctx, "patched", types.StrategicMergePatchType, strategic, metav1.PatchOptions{})
	if err != nil {
		return err
	}
	if len(got.Spec.Template.Spec.Containers) != 2 {
		return fmt.Errorf("%d containers after a strategic merge", len(got.Spec.Template.Spec.Containers))
	}
	if _, err = deployments.Patch(ctx, "patched", types.JSONPatchType, []byte(`[{"op":"test","path":"/spec/replicas","value":0},{"op":"remove","path":"/spec/template/spec/containers/0"}]`), metav1.PatchOptions{}); err != nil {
		return err
	}
	if _, err = deployments.Patch(ctx, "patched", types.JSONPatchType, []byte(`[{"op":"test","path":"/spec/replicas","value":7}]`), metav1.PatchOptions{}); wants(err, metav1.StatusReasonInvalid) != nil {
		return wants(err, metav1.StatusReasonInvalid)
	}
	if got, err = deployments.Patch(ctx, "patched", types.MergePatchType, []byte(`{"metadata":{"annotations":{"x":"y"}}}`), metav1.PatchOptions{}); err != nil {
		return err
	}
	if len(got.Spec.Template.Spec.Containers) != 1 || got.Annotations["x"] != "y" {
		return fmt.Errorf("%d containers, annotations %v", len(got.Spec.Template.Spec.Containers), got.Annotations)
	}
	if err = retry.RetryOnConflict(retry.DefaultRetry, func() error { // the controller writes its status meanwhile
		scale, err := deployments.GetScale(ctx, "patched", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if scale.Status.Selector != "app=patched" {
			return fmt.Errorf("the scale's selector is %q", scale.Status.Selector)
		}
		scale.Spec.Replicas = 2
		_, err = deployments.UpdateScale(ctx, "patched", scale, metav1.UpdateOptions{})
		return err
	}); err != nil {
		return err
	}
	dry, err := deployments.Patch(ctx, "patched", types.MergePatchType, []byte(`{"spec":{"replicas":9}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}})
	if err != nil || *dry.Spec.Replicas != 9 {
		return fmt.Errorf("a dry run: %v %w", dry.Spec.Replicas, err)
	}
	if got, err = deployments.Get(ctx, "patched", metav1.GetOptions{}); err != nil || *got.Spec.Replicas != 2 {
		return fmt.Errorf("%d replicas after a scale and a dry run: %w", *got.Spec.Replicas, err)
	}
	// As controllers do it: read, change, write, and again after a conflict.
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		one, err := deployments.Get(ctx, "patched", metav1.GetOptions{})
		if err == nil {
			*one.Spec.Replicas = 0
			_, err = deployments.Update(ctx, one, metav1.UpdateOptions{})
		}
		return err
	})
}

func applyServerSide(ctx context.Context, w world) error {
	maps := w.client.CoreV1().ConfigMaps(w.namespace)
	wanted := corev1apply.ConfigMap("applied", w.namespace).WithData(map[string]string{"a": "1", "b": "1"})
	first, err := maps.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: "one"})
	if err != nil {
		return err
	}
	again, err := maps.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: "one"})
	if err != nil {
		return err
	}
	if first.ResourceVersion != again.ResourceVersion {
		return fmt.Errorf("the same apply wrote again: %s, %s", first.ResourceVersion, again.ResourceVersion)
	}
	other := corev1apply.ConfigMap("applied", w.namespace).WithData(map[string]string{"a": "2"})
	if _, err = maps.Apply(ctx, other, metav1.ApplyOptions{FieldManager: "two"}); !apierrors.IsConflict(err) || !apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict) {
		return fmt.Errorf("no conflict of managers: %v", err)
	}
	if _, err = maps.Apply(ctx, other, metav1.ApplyOptions{FieldManager: "two", Force: true}); err != nil {
		return err
	}
	// What nobody applies any more goes.
	if _, err = maps.Apply(ctx, corev1apply.ConfigMap("applied", w.namespace), metav1.ApplyOptions{FieldManager: "one"}); err != nil {
		return err
	}
	got, err := maps.Get(ctx, "applied", metav1.GetOptions{})
	if err != nil || len(got.Data) != 1 || got.Data["a"] != "2" {
		return fmt.Errorf("data is %v: %w", got.Data, err)
	}
	mine, err := corev1apply.ExtractConfigMap(got, "two")
	if err != nil || mine.Data["a"] != "2" {
		return fmt.Errorf("what the second manager owns: %v %w", mine, err)
	}
	return nil
}

func defineKinds(ctx context.Context, w world) error {
	definitions := w.dynamic.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	definition := &unstructured.Unstructured{}
	if err := definition.UnmarshalJSON([]byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"wheels.flows.example.test"},
		"spec":{"group":"flows.example.test","scope":"Namespaced","names":{"plural":"wheels","singular":"wheel","kind":"Wheel","listKind":"WheelList"},
		"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{},"scale":{"specReplicasPath":".spec.spokes","statusReplicasPath":".status.spokes"}},
		"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","required":["spokes"],"properties":{"spokes":{"type":"integer","minimum":1},"colour":{"type":"string","default":"red"}},
		"x-kubernetes-validations":[{"rule":"self.spokes < 100","message":"too many spokes"}]},"status":{"type":"object","properties":{"spokes":{"type":"integer"}}}}}}}]}}`)); err != nil {
		return err
	}
	if _, err := definitions.Create(ctx, definition, metav1.CreateOptions{}); err != nil {
		return err
	}
	wheels := w.dynamic.Resource(schema.GroupVersionResource{Group: "flows.example.test", Version: "v1", Resource: "wheels"}).Namespace(w.namespace)
	wheel := func(spokes int64) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "flows.example.test/v1", "kind": "Wheel", "metadata": map[string]any{"name": "front"}, "spec": map[string]any{"spokes": spokes}}}
	}
	var made *unstructured.Unstructured
	if err := until(ctx, "a wheel", func() (done bool, err error) {
		made, err = wheels.Create(ctx, wheel(36), metav1.CreateOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	}); err != nil {
		return err
	}
	if colour, _, _ := unstructured.NestedString(made.Object, "spec", "colour"); colour != "red" {
		return fmt.Errorf("the default is %q", colour)
	}
	made.Object["status"] = map[string]any{"spokes": int64(36)}
	if made, _ = wheels.UpdateStatus(ctx, made, metav1.UpdateOptions{}); made == nil || made.GetGeneration() != 1 {
		return fmt.Errorf("a status is not written, or counts as a generation: %v", made)
	}
	if _, err := wheels.Apply(ctx, "front", wheel(200), metav1.ApplyOptions{FieldManager: "flow", Force: true}); wants(err, metav1.StatusReasonInvalid) != nil {
		return wants(err, metav1.StatusReasonInvalid)
	}
	scale, err := wheels.Get(ctx, "front", metav1.GetOptions{}, "scale")
	if err != nil {
		return err
	}
	if kind := scale.GetKind(); kind != "Scale" {
		return fmt.Errorf("its scale is a %s", kind)
	}
	if err := definitions.Delete(ctx, "wheels.flows.example.test", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return until(ctx, "wheels are not served any more", func() (bool, error) {
		_, err := wheels.List(ctx, metav1.ListOptions{})
		return apierrors.IsNotFound(err), nil
	})
}

func tellErrors(ctx context.Context, w world) error {
	maps := w.client.CoreV1().ConfigMaps(w.namespace)
	if _, err := maps.Get(ctx, "absent", metav1.GetOptions{}); wants(err, metav1.StatusReasonNotFound) != nil {
		return wants(err, metav1.StatusReasonNotFound)
	}
	if _, err := maps.Create(ctx, configMap("twice", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	_, err := maps.Create(ctx, configMap("twice", nil), metav1.CreateOptions{})
	if wants(err, metav1.StatusReasonAlreadyExists) != nil {
		return wants(err, metav1.StatusReasonAlreadyExists)
	}
	if _, err = maps.Create(ctx, configMap("No Name", nil), metav1.CreateOptions{}); wants(err, metav1.StatusReasonInvalid) != nil {
		return wants(err, metav1.StatusReasonInvalid)
	}
	old := configMap("twice", nil)
	old.ResourceVersion = "1"
	if _, err = maps.Update(ctx, old, metav1.UpdateOptions{}); wants(err, metav1.StatusReasonConflict) != nil {
		return wants(err, metav1.StatusReasonConflict)
	}
	nobody := rest.CopyConfig(w.config)
	nobody.Impersonate = rest.ImpersonationConfig{UserName: "nobody"}
	if _, err = kubernetes.NewForConfigOrDie(nobody).CoreV1().Secrets(w.namespace).List(ctx, metav1.ListOptions{}); wants(err, metav1.StatusReasonForbidden) != nil {
		return wants(err, metav1.StatusReasonForbidden)
	}
	wrong := rest.AnonymousClientConfig(w.config)
	wrong.BearerToken = "nonsense"
	if _, err = kubernetes.NewForConfigOrDie(wrong).CoreV1().Secrets(w.namespace).List(ctx, metav1.ListOptions{}); wants(err, metav1.StatusReasonUnauthorized) != nil {
		return wants(err, metav1.StatusReasonUnauthorized)
	}
	// Which reasons a list has that is too far ahead: clients try again after what it says.
	_, err = maps.List(ctx, metav1.ListOptions{ResourceVersion: "999999999999", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	if !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge) && !apierrors.IsTimeout(err) {
		return fmt.Errorf("a version of the future: %v", err)
	}
	return nil
}

func keepPreconditions(ctx context.Context, w world) error {
	maps := w.client.CoreV1().ConfigMaps(w.namespace)
	made, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "made-", Labels: map[string]string{"flow": "preconditions"}, Finalizers: []string{"example.test/wait"}}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	other := types.UID("00000000-0000-0000-0000-000000000000")
	if err = maps.Delete(ctx, made.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}}); wants(err, metav1.StatusReasonConflict) != nil {
		return wants(err, metav1.StatusReasonConflict)
	}
	if err = maps.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "flow=preconditions"}); err != nil {
		return err
	}
	left, err := maps.Get(ctx, made.Name, metav1.GetOptions{})
	if err != nil || left.DeletionTimestamp == nil {
		return fmt.Errorf("a finalizer did not hold it: %w", err)
	}
	left.Finalizers = nil
	if _, err = maps.Update(ctx, left, metav1.UpdateOptions{}); err != nil {
		return err
	}
	_, err = maps.Get(ctx, made.Name, metav1.GetOptions{})
	return wants(err, metav1.StatusReasonNotFound)
}

func electLeaders(ctx context.Context, w world) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	leads := make(chan string, 4)
	stand := func(name string) (context.CancelFunc, error) {
		lock, err := resourcelock.New(resourcelock.LeasesResourceLock, w.namespace, "leader", w.client.CoreV1(), w.client.CoordinationV1(), resourcelock.ResourceLockConfig{Identity: name})
		if err != nil {
			return nil, err
		}
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{Lock: lock, ReleaseOnCancel: true, LeaseDuration: 6 * time.Second, RenewDeadline: 4 * time.Second, RetryPeriod: 200 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { leads <- name }, OnStoppedLeading: func() {}}})
		if err != nil {
			return nil, err
		}
		own, resign := context.WithCancel(ctx)
		go elector.Run(own)
		return resign, nil
	}
	next := func(wanted string) error {
		select {
		case got := <-leads:
			if got != wanted {
				return fmt.Errorf("%s leads instead of %s", got, wanted)
			}
			return nil
		case <-time.After(20 * time.Second):
			return fmt.Errorf("%s does not lead", wanted)
		}
	}
	resign, err := stand("one")
	if err != nil {
		return err
	}
	if err := next("one"); err != nil {
		return err
	}
	if _, err := stand("two"); err != nil {
		return err
	}
	resign()
	return next("two")
}

func recordEvents(ctx context.Context, w world) error {
	about, err := w.client.CoreV1().ConfigMaps(w.namespace).Create(ctx, configMap("about", nil), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	sink := record.NewBroadcaster()
	defer sink.Shutdown()
	sink.StartRecordingToSink(eventSink(ctx, w))
	recorder := sink.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "client-flows"})
	for range 3 {
		recorder.Event(about, corev1.EventTypeNormal, "Tried", "a flow tried events")
	}
	return until(ctx, "one event that is counted three times", func() (bool, error) {
		events, err := w.client.CoreV1().Events(w.namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=about,reason=Tried"})
		if err != nil || len(events.Items) != 1 {
			return false, err
		}
		newer, err := w.client.EventsV1().Events(w.namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=Tried"})
		return events.Items[0].Count == 3 && len(newer.Items) == 1 && newer.Items[0].Note == "a flow tried events", err
	})
}

func useAccounts(ctx context.Context, w world) error {
	accounts := w.client.CoreV1().ServiceAccounts(w.namespace)
	if _, err := accounts.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	seconds := int64(600)
	token, err := accounts.CreateToken(ctx, "robot", &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	robot := rest.AnonymousClientConfig(w.config)
	robot.BearerToken = token.Status.Token
	client := kubernetes.NewForConfigOrDie(robot)
	who, err := client.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil || who.Status.UserInfo.Username != "system:serviceaccount:"+w.namespace+":robot" {
		return fmt.Errorf("who am I: %v %w", who, err)
	}
	ask := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "pods", Namespace: w.namespace}}}
	may, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, ask, metav1.CreateOptions{})
	if err != nil || may.Status.Allowed {
		return fmt.Errorf("a robot without roles may get pods: %w", err)
	}
	review, err := w.client.AuthenticationV1().TokenReviews().Create(ctx, &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token.Status.Token}}, metav1.CreateOptions{})
	if err != nil || !review.Status.Authenticated {
		return fmt.Errorf("the token is not known: %v %w", review, err)
	}
	return nil
}

func evictPods(ctx context.Context, w world) error {
	pods := w.client.CoreV1().Pods(w.namespace)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "guarded", Labels: map[string]string{"app": "guarded"}},
		Spec: corev1.PodSpec{SchedulerName: "nobody", Containers: []corev1.Container{{Name: "a", Image: "busybox"}}}}
	if _, err := pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		return err
	}
	// Pods that do not run yet are evicted whatever budgets say; this one is said to run.
	if _, err := pods.Patch(ctx, "guarded", types.MergePatchType, []byte(`{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`), metav1.PatchOptions{}, "status"); err != nil {
		return err
	}
	one := intstr.FromInt32(1)
	budgets := w.client.PolicyV1().PodDisruptionBudgets(w.namespace)
	if _, err := budgets.Create(ctx, &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "guard"},
		Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "guarded"}}}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := until(ctx, "the budget's status", func() (bool, error) {
		budget, err := budgets.Get(ctx, "guard", metav1.GetOptions{})
		return err == nil && budget.Status.ExpectedPods == 1 && budget.Status.ObservedGeneration == 1, err
	}); err != nil {
		return err
	}
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "guarded", Namespace: w.namespace}}
	err := w.client.PolicyV1().Evictions(w.namespace).Evict(ctx, eviction)
	if !apierrors.IsTooManyRequests(err) || !apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause) {
		return fmt.Errorf("the budget does not hold: %v", err)
	}
	if err := budgets.Delete(ctx, "guard", metav1.DeleteOptions{}); err != nil {
		return err
	}
	return until(ctx, "evicted", func() (bool, error) {
		return w.client.PolicyV1().Evictions(w.namespace).Evict(ctx, eviction) == nil, nil
	})
}

func signCertificates(ctx context.Context, w world) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "jane", Organization: []string{"flows"}}}, key)
	if err != nil {
		return err
	}
	requests := w.client.CertificatesV1().CertificateSigningRequests()
	seconds := int32(3600)
	request, err := requests.Create(ctx, &certificatesv1.CertificateSigningRequest{ObjectMeta: metav1.ObjectMeta{Name: "jane"}, Spec: certificatesv1.CertificateSigningRequestSpec{
		Request: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}), SignerName: certificatesv1.KubeAPIServerClientSignerName, ExpirationSeconds: &seconds,
		Usages: []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth}}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	if request.Spec.Username == "" {
		return fmt.Errorf("the request does not say who made it")
	}
	request.Status.Conditions = append(request.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Flow"})
	if _, err = requests.UpdateApproval(ctx, "jane", request, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := until(ctx, "the certificate", func() (bool, error) {
		request, err = requests.Get(ctx, "jane", metav1.GetOptions{})
		return err == nil && len(request.Status.Certificate) > 0, err
	}); err != nil {
		return err
	}
	text, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	jane := rest.AnonymousClientConfig(w.config)
	jane.CertData, jane.KeyData = request.Status.Certificate, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: text})
	who, err := kubernetes.NewForConfigOrDie(jane).AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil || who.Status.UserInfo.Username != "jane" || !bytes.Contains([]byte(fmt.Sprint(who.Status.UserInfo.Groups)), []byte("flows")) {
		return fmt.Errorf("who jane is: %v %w", who, err)
	}
	return nil
}

func scaleByVersionOne(ctx context.Context, w world) error {
	two, percent := int32(2), int32(70)
	old := w.client.AutoscalingV1().HorizontalPodAutoscalers(w.namespace)
	if _, err := old.Create(ctx, &autoscalingv1.HorizontalPodAutoscaler{ObjectMeta: metav1.ObjectMeta{Name: "both"}, Spec: autoscalingv1.HorizontalPodAutoscalerSpec{MinReplicas: &two, MaxReplicas: 5,
		ScaleTargetRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "absent"}, TargetCPUUtilizationPercentage: &percent}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	newer, err := w.client.AutoscalingV2().HorizontalPodAutoscalers(w.namespace).Get(ctx, "both", metav1.GetOptions{})
	if err != nil || len(newer.Spec.Metrics) != 1 || *newer.Spec.Metrics[0].Resource.Target.AverageUtilization != 70 {
		return fmt.Errorf("as version 2 it has metrics %v: %w", newer.Spec.Metrics, err)
	}
	again, err := old.Get(ctx, "both", metav1.GetOptions{})
	if err != nil || *again.Spec.TargetCPUUtilizationPercentage != 70 {
		return fmt.Errorf("as version 1 again: %v %w", again.Spec, err)
	}
	list, err := old.List(ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.Items[0].Spec.MaxReplicas != 5 {
		return fmt.Errorf("the list of version 1: %v %w", list, err)
	}
	return nil
}
