package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// heard counts the events of an informer's handler.
type heard struct {
	mu                   sync.Mutex
	added, changed, gone map[string]int
	initial              int
}

func listen(e *env, informer cache.SharedIndexInformer) *heard {
	h := &heard{added: map[string]int{}, changed: map[string]int{}, gone: map[string]int{}}
	count := func(where map[string]int, obj any) {
		h.mu.Lock()
		defer h.mu.Unlock()
		key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
		_, name, _ := cache.SplitMetaNamespaceKey(key)
		where[name]++
	}
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, initial bool) {
			count(h.added, obj)
			if initial {
				h.mu.Lock()
				defer h.mu.Unlock()
				h.initial++
			}
		},
		UpdateFunc: func(_, obj any) { count(h.changed, obj) },
		DeleteFunc: func(obj any) { count(h.gone, obj) },
	})
	e.ok(err)
	return h
}

func (h *heard) of(where map[string]int, name string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return where[name]
}

// follows: the informer's handler receives the changes of the namespace's config maps.
func follows(e *env, h *heard) {
	e.same("of the first one", h.of(h.added, "before"), 1)
	made := e.configMap("behind", map[string]string{"k": "1"})
	e.eventually("the added one", func() bool { return h.of(h.added, "behind") == 1 })
	made.Data["k"] = "2"
	must[*corev1.ConfigMap](e)(e.typed.CoreV1().ConfigMaps(e.ns).Update(e.ctx, made, metav1.UpdateOptions{}))
	e.eventually("the changed one", func() bool { return h.of(h.changed, "behind") == 1 })
	e.ok(e.typed.CoreV1().ConfigMaps(e.ns).Delete(e.ctx, "before", metav1.DeleteOptions{}))
	e.eventually("the deleted one", func() bool { return h.of(h.gone, "before") == 1 })
}

func sharedFactory(e *env) {
	e.configMap("before", map[string]string{"k": "v"})
	var seen wire
	client := kubernetes.NewForConfigOrDie(e.with(seen.tap))
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(e.ns))
	maps, secrets := factory.Core().V1().ConfigMaps(), factory.Core().V1().Secrets()
	h := listen(e, maps.Informer())
	secrets.Informer()
	factory.Start(e.ctx.Done())
	for kind, synced := range factory.WaitForCacheSync(e.ctx.Done()) {
		e.that(synced, "%v has not synced", kind)
	}
	e.eventually("the handler", func() bool { return h.of(h.added, "before") == 1 })
	follows(e, h)
	e.that(seen.asked("sendInitialEvents=true") == 2 && seen.asked("limit=") == 0, "not a streaming list: %q", seen.queries)
	found := must[[]*corev1.ConfigMap](e)(maps.Lister().ConfigMaps(e.ns).List(labels.Everything()))
	e.same("in the lister", len(found), 1)
	e.same("data", found[0].Data, map[string]string{"k": "2"})
}

func listingFactory(e *env) {
	withoutWatchList(func() {
		e.configMap("before", map[string]string{})
		// A list of version 0 may be older than the last write.
		e.eventually("the cache", func() bool {
			found := must[*corev1.ConfigMapList](e)(e.typed.CoreV1().ConfigMaps(e.ns).List(e.ctx, metav1.ListOptions{ResourceVersion: "0"}))
			return len(found.Items) == 1
		})
		var seen wire
		client := kubernetes.NewForConfigOrDie(e.with(seen.tap))
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(e.ns))
		h := listen(e, factory.Core().V1().ConfigMaps().Informer())
		factory.Start(e.ctx.Done())
		factory.WaitForCacheSync(e.ctx.Done())
		e.eventually("the handler", func() bool { return h.of(h.added, "before") == 1 })
		follows(e, h)
		e.that(seen.asked("sendInitialEvents") == 0 && seen.asked("resourceVersion=0") == 1, "not a list and a watch: %q", seen.queries)
		e.same("told as there before", h.initial, 1)
	})
}

func metadataInformer(e *env) {
	e.configMap("before", map[string]string{})
	client := metadata.NewForConfigOrDie(e.config)
	factory := metadatainformer.NewFilteredSharedInformerFactory(client, 0, e.ns, nil)
	informer := factory.ForResource(configMaps)
	h := listen(e, informer.Informer())
	factory.Start(e.ctx.Done())
	factory.WaitForCacheSync(e.ctx.Done())
	e.eventually("the handler", func() bool { return h.of(h.added, "before") == 1 })
	follows(e, h)
	found, err := informer.Lister().ByNamespace(e.ns).Get("behind")
	e.ok(err)
	e.that(found.(*metav1.PartialObjectMetadata).ResourceVersion != "", "no version")
}

func dynamicInformer(e *env) {
	e.configMap("before", map[string]string{})
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(e.dynamic, 0, e.ns, nil)
	h := listen(e, factory.ForResource(configMaps).Informer())
	factory.Start(e.ctx.Done())
	factory.WaitForCacheSync(e.ctx.Done())
	e.eventually("the handler", func() bool { return h.of(h.added, "before") == 1 })
	follows(e, h)
}

func indexedInformer(e *env) {
	e.configMap("one", map[string]string{"team": "red"})
	e.configMap("two", map[string]string{"team": "blue"})
	factory := informers.NewSharedInformerFactoryWithOptions(e.typed, 0, informers.WithNamespace(e.ns),
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.FieldSelector = "metadata.name!=none" }))
	informer := factory.Core().V1().ConfigMaps().Informer()
	e.ok(informer.AddIndexers(cache.Indexers{"team": func(obj any) ([]string, error) { return []string{obj.(*corev1.ConfigMap).Data["team"]}, nil }}))
	factory.Start(e.ctx.Done())
	factory.WaitForCacheSync(e.ctx.Done())
	red, err := informer.GetIndexer().ByIndex("team", "red")
	e.ok(err)
	e.same("red", len(red), 1)
	e.same("red", red[0].(*corev1.ConfigMap).Name, "one")
}

// A reflector whose watch gets 410 lists again and continues: its store has the missed changes.
func relists(e *env) {
	e.configMap("one", map[string]string{})
	maps := e.typed.CoreV1().ConfigMaps(e.ns)
	var mu sync.Mutex
	lists, refused := 0, false
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	withoutWatchList(func() {
		source := &cache.ListWatch{
			ListFunc: func(options metav1.ListOptions) (runtime.Object, error) {
				mu.Lock()
				lists++
				mu.Unlock()
				return maps.List(ctx, options)
			},
			WatchFunc: func(options metav1.ListOptions) (watch.Interface, error) {
				mu.Lock()
				defer mu.Unlock()
				if !refused { // as if the reflector had been away for long
					refused = true
					return nil, apierrors.NewResourceExpired("too old resource version")
				}
				return maps.Watch(ctx, options)
			},
		}
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		reflector := cache.NewReflector(source, &corev1.ConfigMap{}, store, 0)
		go reflector.RunWithContext(ctx)
		e.eventually("the first one", func() bool { return len(store.List()) == 1 })
		e.configMap("two", map[string]string{})
		e.eventually("the second one", func() bool { return len(store.List()) == 2 })
		mu.Lock()
		defer mu.Unlock()
		e.same("lists", lists, 2)
	})
}

// Continue tokens and versions that are too old say so in a way that clients know.
func expired(e *env) {
	e.configMap("one", map[string]string{})
	maps := e.typed.CoreV1().ConfigMaps(e.ns)
	_, err := maps.List(e.ctx, metav1.ListOptions{Continue: "nonsense"})
	e.says(err, "continue key is not valid")
	_, err = maps.List(e.ctx, metav1.ListOptions{ResourceVersion: "1", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	e.ok(err)
	_, err = maps.List(e.ctx, metav1.ListOptions{ResourceVersion: "0", ResourceVersionMatch: metav1.ResourceVersionMatchExact})
	e.says(err, `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`)
}

func manyInformers(e *env) {
	factory := informers.NewSharedInformerFactory(e.typed, 10*time.Minute)
	informerOf := []cache.SharedIndexInformer{
		factory.Core().V1().Pods().Informer(), factory.Core().V1().Nodes().Informer(), factory.Core().V1().Services().Informer(),
		factory.Apps().V1().Deployments().Informer(), factory.Batch().V1().Jobs().Informer(), factory.Policy().V1().PodDisruptionBudgets().Informer(),
		factory.Coordination().V1().Leases().Informer(), factory.Discovery().V1().EndpointSlices().Informer(), factory.Rbac().V1().Roles().Informer(),
		factory.Networking().V1().Ingresses().Informer(), factory.Storage().V1().StorageClasses().Informer(), factory.Events().V1().Events().Informer(),
		factory.Autoscaling().V2().HorizontalPodAutoscalers().Informer(), factory.Scheduling().V1().PriorityClasses().Informer(),
		factory.Certificates().V1().CertificateSigningRequests().Informer(), factory.Admissionregistration().V1().ValidatingWebhookConfigurations().Informer(),
	}
	factory.Start(e.ctx.Done())
	e.that(len(factory.WaitForCacheSync(e.ctx.Done())) == len(informerOf), "not all of them")
	for number, informer := range informerOf {
		e.that(informer.HasSynced(), "informer %d has not synced", number)
	}
}

func informerInProtobuf(e *env) {
	for number := range 50 {
		e.configMap(fmt.Sprint("p", number), map[string]string{"n": fmt.Sprint(number)})
	}
	config := e.with(func(c *rest.Config) { c.ContentType = "application/vnd.kubernetes.protobuf" })
	factory := informers.NewSharedInformerFactoryWithOptions(kubernetes.NewForConfigOrDie(config), 0, informers.WithNamespace(e.ns))
	lister := factory.Core().V1().ConfigMaps().Lister()
	factory.Start(e.ctx.Done())
	factory.WaitForCacheSync(e.ctx.Done())
	found := must[[]*corev1.ConfigMap](e)(lister.List(labels.Everything()))
	e.same("items", len(found), 50)
	one := must[*corev1.ConfigMap](e)(lister.ConfigMaps(e.ns).Get("p7"))
	e.same("data", one.Data, map[string]string{"n": "7"})
}

func informed() []check {
	return []check{
		{"informers, streaming lists", sharedFactory}, {"informers, list and watch", listingFactory}, {"informers of metadata", metadataInformer},
		{"informers, dynamic", dynamicInformer}, {"informers with an index", indexedInformer}, {"informers, protobuf", informerInProtobuf},
		{"informers of many kinds", manyInformers}, {"a reflector lists anew", relists}, {"versions and tokens that are no good", expired},
	}
}
