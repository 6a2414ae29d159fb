package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A cache holds the selected objects without managedFields, and drops objects that leave the selection.
func selectingCache(e *env) {
	found, err := cache.New(e.config, cache.Options{Scheme: schemeWithWidgets(), ByObject: map[client.Object]cache.ByObject{
		&corev1.ConfigMap{}: {Label: labels.SelectorFromSet(labels.Set{"in": "yes"}), Field: fields.OneTermNotEqualSelector("metadata.name", "never"),
			Namespaces: map[string]cache.Config{e.ns: {}}, Transform: cache.TransformStripManagedFields()}}})
	e.ok(err)
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	go func() { _ = found.Start(ctx) }()
	e.that(found.WaitForCacheSync(ctx), "the cache has not synced")
	direct := e.client()
	for name, in := range map[string]string{"a": "yes", "b": "no", "never": "yes", "c": "yes"} {
		e.ok(direct.Create(e.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: e.ns, Labels: map[string]string{"in": in}}}))
	}
	held := func() string {
		all := &corev1.ConfigMapList{}
		e.ok(found.List(e.ctx, all, client.InNamespace(e.ns)))
		names := map[string]bool{}
		for _, item := range all.Items {
			names[item.Name] = true
			e.that(len(item.ManagedFields) == 0, "%s has managedFields", item.Name)
		}
		return fmt.Sprint(names)
	}
	e.eventually("the selected ones", func() bool { return held() == "map[a:true c:true]" })
	e.ok(direct.Patch(e.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: e.ns}},
		client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"in":"no"}}}`))))
	e.ok(direct.Patch(e.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "b", Namespace: e.ns}},
		client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"in":"yes"}}}`))))
	e.eventually("who is selected now", func() bool { return held() == "map[b:true c:true]" })
}

// A reconciler that receives only metadata, and applies an annotation.
func metadataReconciler(e *env) {
	var seen atomic.Int32
	_, stop := e.manager(func(m ctrl.Manager) {
		e.ok(ctrl.NewControllerManagedBy(m).Named("metadata").For(&corev1.ConfigMap{}, builder.OnlyMetadata).Complete(
			reconcile.Func(func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
				seen.Add(1)
				part := &metav1.PartialObjectMetadata{}
				part.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
				if err := m.GetClient().Get(ctx, request.NamespacedName, part); err != nil {
					return ctrl.Result{}, client.IgnoreNotFound(err)
				}
				wanted := applycore.ConfigMap(request.Name, request.Namespace).WithUID(part.UID).WithAnnotations(map[string]string{"seen": "yes"})
				return ctrl.Result{}, client.IgnoreNotFound(m.GetClient().Apply(ctx, wanted, client.FieldOwner("metadata"), client.ForceOwnership))
			})))
	})
	defer stop()
	e.configMap("m", map[string]string{"k": "v"})
	got := &corev1.ConfigMap{}
	direct, key := e.client(), types.NamespacedName{Namespace: e.ns, Name: "m"}
	e.eventually("the annotation", func() bool { return direct.Get(e.ctx, key, got) == nil && got.Annotations["seen"] == "yes" })
	e.same("data", got.Data, map[string]string{"k": "v"})
	// A repeated apply changes nothing: no event, no further call.
	version, calls := got.ResourceVersion, seen.Load()
	e.that(calls >= 1, "nobody was called")
	time.Sleep(300 * time.Millisecond)
	e.ok(direct.Get(e.ctx, key, got))
	e.same("version", got.ResourceVersion, version)
	e.ok(direct.Delete(e.ctx, got))
	e.eventually("the end", func() bool { return apierrors.IsNotFound(direct.Get(e.ctx, key, got)) && seen.Load() > calls })
}

// One of two managers leads; the other one begins when the first has ended.
func electedManagers(e *env) {
	begin := func(name string) (<-chan struct{}, context.CancelFunc, <-chan error) {
		made, err := ctrl.NewManager(e.config, ctrl.Options{Scheme: schemeWithWidgets(), Metrics: metricsserver.Options{BindAddress: "0"},
			LeaderElection: true, LeaderElectionID: "elected", LeaderElectionNamespace: e.ns, LeaderElectionReleaseOnCancel: true})
		e.ok(err)
		ctx, cancel := context.WithCancel(e.ctx)
		ended := make(chan error, 1)
		go func() { ended <- made.Start(ctx) }()
		return made.Elected(), cancel, ended
	}
	elected := func(from <-chan struct{}) func() bool {
		return func() bool {
			select {
			case <-from:
				return true
			default:
				return false
			}
		}
	}
	first, stopFirst, firstEnded := begin("first")
	e.eventually("the first leader", elected(first))
	second, stopSecond, secondEnded := begin("second")
	lease, err := e.typed.CoordinationV1().Leases(e.ns).Get(e.ctx, "elected", metav1.GetOptions{})
	e.ok(err)
	holder := *lease.Spec.HolderIdentity
	e.that(!elected(second)(), "two leaders")
	stopFirst()
	e.ok(<-firstEnded)
	e.eventually("the second leader", elected(second))
	lease, err = e.typed.CoordinationV1().Leases(e.ns).Get(e.ctx, "elected", metav1.GetOptions{})
	e.ok(err)
	e.that(*lease.Spec.HolderIdentity != holder, "the lease is still held by %s", holder)
	stopSecond()
	e.ok(<-secondEnded)
}

func cached() []check {
	return []check{
		{"controller-runtime: a cache that selects", selectingCache}, {"controller-runtime: a reconciler of metadata", metadataReconciler},
		{"controller-runtime: two managers and one lease", electedManagers},
	}
}
