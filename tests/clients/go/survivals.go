package main

import (
	"context"
	"fmt"
	"sync/atomic"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/config"
)

func controllerConfig(skip bool) config.Controller {
	return config.Controller{SkipNameValidation: &skip}
}

func scaleObject() *autoscalingv1.Scale { return &autoscalingv1.Scale{} }

// An informer continues after a kill of the server, and receives no event twice.
func informerSurvives(e *env) {
	e.configMap("before", map[string]string{"k": "v"})
	factory := informers.NewSharedInformerFactoryWithOptions(e.typed, 0, informers.WithNamespace(e.ns))
	informer := factory.Core().V1().ConfigMaps().Informer()
	h := listen(e, informer)
	factory.Start(e.ctx.Done())
	factory.WaitForCacheSync(e.ctx.Done())
	e.eventually("the handler", func() bool { return h.of(h.added, "before") == 1 })
	e.restart()
	follows(e, h)
	e.same("added once", h.of(h.added, "before"), 1)
}

// A watch that is retried from its last version loses and repeats nothing, unless it gets 410.
func retriedWatchSurvives(e *env) {
	first := e.configMap("r0", map[string]string{})
	source := cache.NewListWatchFromClient(e.typed.CoreV1().RESTClient(), "configmaps", e.ns, fields.Everything())
	retried, err := watchtools.NewRetryWatcherWithContext(e.ctx, first.ResourceVersion, contextWatcher{source})
	e.ok(err)
	defer retried.Stop()
	var told []string
	see := func() bool {
		event := e.next(retried)
		if event.Type == watch.Error {
			e.says(fmt.Errorf("%s", event.Object.(*metav1.Status).Message), "too old resource version")
			return false
		}
		told = append(told, event.Object.(*corev1.ConfigMap).Name)
		return true
	}
	e.configMap("r1", map[string]string{})
	e.that(see(), "gone before the restart")
	e.restart()
	e.configMap("r2", map[string]string{})
	if see() {
		e.same("told", told, []string{"r1", "r2"})
	}
}

type contextWatcher struct{ source *cache.ListWatch }

func (w contextWatcher) WatchWithContext(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return w.source.Watch(options)
}

// Objects that were written before a kill exist after it at the same version, and newer writes have newer versions.
func objectsSurvive(e *env) {
	made := e.configMap("kept", map[string]string{"k": "v"})
	web := e.deploy("web")
	e.restart()
	got := must[*corev1.ConfigMap](e)(e.typed.CoreV1().ConfigMaps(e.ns).Get(e.ctx, "kept", metav1.GetOptions{}))
	e.same("object", got, made)
	found, err := e.typed.AppsV1().Deployments(e.ns).Get(e.ctx, "web", metav1.GetOptions{})
	e.ok(err)
	e.same("deployment", found, web)
	var before, behind int
	_, err = fmt.Sscan(web.ResourceVersion, &before)
	e.ok(err)
	_, err = fmt.Sscan(e.configMap("new", nil).ResourceVersion, &behind)
	e.ok(err)
	e.that(behind > before, "%d behind %d", behind, before)
}

// forgets returns when the server has compacted the version, which needs later writes.
func forgets(e *env, version string) {
	e.eventually("the compaction", func() bool {
		_, err := e.typed.CoreV1().Secrets(e.ns).Create(e.ctx, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{GenerateName: "s-"}}, metav1.CreateOptions{})
		e.ok(err)
		_, err = e.typed.CoreV1().ConfigMaps(e.ns).List(e.ctx, metav1.ListOptions{
			ResourceVersion: version, ResourceVersionMatch: metav1.ResourceVersionMatchExact})
		return apierrors.IsResourceExpired(err)
	})
}

// A reflector whose version has been compacted gets 410, lists again, and has all changes in between.
func forgottenVersion(e *env) {
	e.configMap("one", map[string]string{})
	maps := e.typed.CoreV1().ConfigMaps(e.ns)
	var lists atomic.Int32
	var first atomic.Bool
	var running atomic.Pointer[watch.Interface]
	held := make(chan struct{})
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	source := &cache.ListWatch{
		ListFunc: func(options metav1.ListOptions) (runtime.Object, error) {
			lists.Add(1)
			return maps.List(ctx, options)
		},
		WatchFunc: func(options metav1.ListOptions) (watch.Interface, error) {
			if first.Swap(true) { // the second one waits until much has happened
				<-held
			}
			found, err := maps.Watch(ctx, options)
			if err == nil {
				running.Store(&found)
			}
			return found, err
		},
	}
	withoutWatchList(func() {
		store := cache.NewStore(cache.MetaNamespaceKeyFunc)
		go cache.NewReflector(source, &corev1.ConfigMap{}, store, 0).RunWithContext(ctx)
		e.eventually("the first one", func() bool { return len(store.ListKeys()) == 1 && running.Load() != nil })
		// A watch that has delivered events is followed by a watch, not by a list, even if it was short.
		known := e.configMap("two", map[string]string{}).ResourceVersion
		e.eventually("the second one", func() bool { return len(store.ListKeys()) == 2 })
		(*running.Load()).Stop()
		e.ok(maps.Delete(e.ctx, "one", metav1.DeleteOptions{}))
		e.restart()
		e.configMap("three", map[string]string{})
		forgets(e, known)
		close(held)
		e.eventually("all of them", func() bool {
			_, here, _ := store.GetByKey(e.ns + "/three")
			_, stale, _ := store.GetByKey(e.ns + "/one")
			return len(store.ListKeys()) == 2 && here && !stale
		})
		e.same("lists", lists.Load(), int32(2))
	})
}

func survivals() []check {
	return []check{
		{"restart: a version that is forgotten", forgottenVersion},
		{"restart: objects", objectsSurvive}, {"restart: an informer", informerSurvives}, {"restart: a watch that is retried", retriedWatchSurvives},
	}
}
