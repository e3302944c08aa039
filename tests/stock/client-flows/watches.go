// Informers, watches and lists: what they see, and what they do when their connection is cut.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
	toolswatch "k8s.io/client-go/tools/watch"
)

type counts struct{ added, updated, deleted, resynced atomic.Int64 }

func (c *counts) handler() cache.ResourceEventHandlerFuncs {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { c.added.Add(1) },
		UpdateFunc: func(old, now any) {
			if old.(metav1.Object).GetResourceVersion() == now.(metav1.Object).GetResourceVersion() {
				c.resynced.Add(1)
			} else {
				c.updated.Add(1)
			}
		},
		DeleteFunc: func(any) { c.deleted.Add(1) },
	}
}

func only(selector string) informers.SharedInformerOption {
	return informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = selector })
}

func shareInformers(ctx context.Context, w world) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	maps := w.client.CoreV1().ConfigMaps(w.namespace)
	factory := informers.NewSharedInformerFactoryWithOptions(w.client, time.Second, informers.WithNamespace(w.namespace), only("flow=informers"))
	informer := factory.Core().V1().ConfigMaps()
	var seen counts
	informer.Informer().AddEventHandler(seen.handler())
	if _, err := maps.Create(ctx, configMap("informers-0", map[string]string{"flow": "informers"}), metav1.CreateOptions{}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if _, err := maps.Create(ctx, configMap("informers-1", map[string]string{"flow": "informers"}), metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := maps.Create(ctx, configMap("informers-other", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	changed := configMap("informers-1", map[string]string{"flow": "informers"})
	changed.Data["a"] = "c"
	if _, err := maps.Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
		return err
	}
	// What loses the label is deleted for who selects by it.
	if _, err := maps.Update(ctx, configMap("informers-0", map[string]string{"flow": "other"}), metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := until(ctx, "events of the informer", func() (bool, error) {
		return seen.added.Load() == 2 && seen.updated.Load() == 1 && seen.deleted.Load() == 1 && seen.resynced.Load() >= 1, nil
	}); err != nil {
		return fmt.Errorf("added %d updated %d deleted %d resynced %d: %w", seen.added.Load(), seen.updated.Load(), seen.deleted.Load(), seen.resynced.Load(), err)
	}
	left, err := informer.Lister().ConfigMaps(w.namespace).List(labels.Everything())
	if err == nil && (len(left) != 1 || left[0].Data["a"] != "c") {
		err = fmt.Errorf("the lister has %d objects", len(left))
	}
	return err
}

// A forwarder of bytes that can cut all connections, and refuse new ones.
type forwarder struct {
	listener net.Listener
	target   string
	mutex    sync.Mutex
	open     []net.Conn
}

func (f *forwarder) serve() {
	for {
		from, err := f.listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", f.target)
		if err != nil {
			from.Close()
			continue
		}
		f.mutex.Lock()
		f.open = append(f.open, from, to)
		f.mutex.Unlock()
		go func() { io.Copy(to, from); to.Close() }()
		go func() { io.Copy(from, to); from.Close() }()
	}
}
func (f *forwarder) cut() {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for _, c := range f.open {
		c.Close()
	}
	f.open = nil
}

func outliveCuts(ctx context.Context, w world) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	server, err := url.Parse(w.config.Host)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	through := &forwarder{listener: listener, target: server.Host}
	go through.serve()
	config := rest.CopyConfig(w.config)
	config.Host = "https://" + listener.Addr().String()
	factory := informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(config), 0, informers.WithNamespace(w.namespace), only("flow=cuts"))
	informer := factory.Core().V1().ConfigMaps()
	var seen counts
	informer.Informer().AddEventHandler(seen.handler())
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	maps := w.client.CoreV1().ConfigMaps(w.namespace)
	for i := range 60 {
		name := fmt.Sprintf("cuts-%d", i)
		if _, err := maps.Create(ctx, configMap(name, map[string]string{"flow": "cuts"}), metav1.CreateOptions{}); err != nil {
			return err
		}
		if i%2 == 0 {
			if err := maps.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
				return err
			}
		}
		if i%20 == 10 {
			through.cut()
		}
	}
	return until(ctx, "30 objects after three cuts", func() (bool, error) {
		left, err := informer.Lister().List(labels.Everything())
		return len(left) == 30 && seen.added.Load()-seen.deleted.Load() == 30, err
	})
}

// The initial events of a watch, with the bookmark that ends them, and the later ones.
func watchList(ctx context.Context, w world) error {
	maps := w.client.CoreV1().ConfigMaps(w.namespace)
	for i := range 3 {
		if _, err := maps.Create(ctx, configMap(fmt.Sprintf("initial-%d", i), map[string]string{"flow": "initial"}), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	yes := true
	stream, err := maps.Watch(ctx, metav1.ListOptions{LabelSelector: "flow=initial", SendInitialEvents: &yes, AllowWatchBookmarks: true, ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	if err != nil {
		return err
	}
	defer stream.Stop()
	added := 0
	for event := range stream.ResultChan() {
		switch event.Type {
		case watch.Added:
			added++
		case watch.Bookmark:
			object := event.Object.(*corev1.ConfigMap)
			if object.Annotations[metav1.InitialEventsAnnotationKey] != "true" || object.ResourceVersion == "" {
				return fmt.Errorf("a bookmark without annotation or version: %v", object.ObjectMeta)
			}
			if added != 3 {
				return fmt.Errorf("the bookmark came after %d objects", added)
			}
			return nil
		default:
			return fmt.Errorf("event %v", event)
		}
	}
	return fmt.Errorf("the watch ended after %d objects", added)
}

func watchAgain(ctx context.Context, w world) error {
	maps := w.client.CoreV1().ConfigMaps(w.namespace)
	list, err := maps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	one := int64(1)
	// Each of its watches ends after a second: it must go on where the last one ended.
	again, err := toolswatch.NewRetryWatcherWithContext(ctx, list.ResourceVersion, &cache.ListWatch{WatchFunc: func(o metav1.ListOptions) (watch.Interface, error) {
		o.TimeoutSeconds, o.LabelSelector = &one, "flow=again"
		return maps.Watch(ctx, o)
	}})
	if err != nil {
		return err
	}
	defer again.Stop()
	for i := range 4 {
		name := fmt.Sprintf("again-%d", i)
		if _, err := maps.Create(ctx, configMap(name, map[string]string{"flow": "again"}), metav1.CreateOptions{}); err != nil {
			return err
		}
		select {
		case event := <-again.ResultChan():
			object, fits := event.Object.(*corev1.ConfigMap)
			if !fits || event.Type != watch.Added || object.Name != name {
				return fmt.Errorf("event %d: %v", i, event)
			}
		case <-ctx.Done():
			return fmt.Errorf("no event %d", i)
		}
		time.Sleep(600 * time.Millisecond) // so that watches end between objects
	}
	return nil
}

func askMetadata(ctx context.Context, w world) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	client := metadata.NewForConfigOrDie(w.config)
	maps := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	if _, err := w.client.CoreV1().ConfigMaps(w.namespace).Create(ctx, configMap("metadata", nil), metav1.CreateOptions{}); err != nil {
		return err
	}
	one, err := client.Resource(maps).Namespace(w.namespace).Get(ctx, "metadata", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if one.UID == "" {
		return fmt.Errorf("no uid")
	}
	factory := metadatainformer.NewFilteredSharedInformerFactory(client, 0, w.namespace, nil)
	informer := factory.ForResource(maps)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if err := until(ctx, "the metadata informer", func() (bool, error) {
		_, err := informer.Lister().ByNamespace(w.namespace).Get("metadata")
		return err == nil, nil
	}); err != nil {
		return err
	}
	if _, err := client.Resource(maps).Namespace(w.namespace).Patch(ctx, "metadata", "application/merge-patch+json", []byte(`{"metadata":{"labels":{"x":"y"}}}`), metav1.PatchOptions{}); err != nil {
		return err
	}
	return until(ctx, "the label in the metadata informer", func() (bool, error) {
		found, err := informer.Lister().ByNamespace(w.namespace).Get("metadata")
		return err == nil && found.(metav1.Object).GetLabels()["x"] == "y", nil
	})
}

func makePages(ctx context.Context, w world, flow string) error {
	for i := range 25 {
		if _, err := w.client.CoreV1().ConfigMaps(w.namespace).Create(ctx, configMap(fmt.Sprintf("%s-%02d", flow, i), map[string]string{"flow": flow}), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

func turnPages(ctx context.Context, w world) error {
	if err := makePages(ctx, w, "pages"); err != nil {
		return err
	}
	maps := w.client.CoreV1().ConfigMaps(w.namespace)
	count := 0
	list := pager.New(pager.SimplePageFunc(func(o metav1.ListOptions) (runtime.Object, error) { return maps.List(ctx, o) }))
	list.PageSize = 10
	if err := list.EachListItem(ctx, metav1.ListOptions{LabelSelector: "flow=pages"}, func(runtime.Object) error { count++; return nil }); err != nil {
		return err
	}
	if count != 25 {
		return fmt.Errorf("%d items in pages", count)
	}
	first, err := w.client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{Limit: 1})
	if err != nil {
		return err
	}
	if first.Continue == "" || first.RemainingItemCount == nil || len(first.Items) != 1 {
		return fmt.Errorf("first page of namespaces: %v", first.ListMeta)
	}
	_, err = maps.List(ctx, metav1.ListOptions{Continue: "nonsense"})
	return wants(err, metav1.StatusReasonBadRequest)
}

// Pages of one revision: what is written after the first page is in none of the later ones.
func turnExactPages(ctx context.Context, w world) error {
	if err := makePages(ctx, w, "exact"); err != nil {
		return err
	}
	maps := w.client.CoreV1().ConfigMaps(w.namespace)
	options := metav1.ListOptions{LabelSelector: "flow=exact", Limit: 10}
	page, err := maps.List(ctx, options)
	if err != nil {
		return err
	}
	first := page.ResourceVersion
	changed := page.Items[0].DeepCopy()
	changed.Data["a"] = "later"
	if _, err := maps.Update(ctx, changed, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if err := maps.Delete(ctx, "exact-20", metav1.DeleteOptions{}); err != nil {
		return err
	}
	if _, err := maps.Create(ctx, configMap("exact-99", map[string]string{"flow": "exact"}), metav1.CreateOptions{}); err != nil {
		return err
	}
	var names []string
	for {
		if page.ResourceVersion != first {
			return fmt.Errorf("a page of revision %s behind one of %s", page.ResourceVersion, first)
		}
		for _, item := range page.Items {
			names = append(names, item.Name)
		}
		if page.Continue == "" {
			break
		}
		options.Continue = page.Continue
		if page, err = maps.List(ctx, options); err != nil {
			return err
		}
	}
	if len(names) != 25 || names[20] != "exact-20" || names[24] != "exact-24" {
		return fmt.Errorf("the pages hold %v", names)
	}
	old, err := maps.List(ctx, metav1.ListOptions{LabelSelector: "flow=exact", ResourceVersion: first, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	if err != nil {
		return err
	}
	if len(old.Items) != 25 || old.Items[0].Data["a"] != "b" || old.ResourceVersion != first {
		return fmt.Errorf("the exact list has %d items of revision %s, the first with %q", len(old.Items), old.ResourceVersion, old.Items[0].Data["a"])
	}
	return nil
}
