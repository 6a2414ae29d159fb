package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const finalizer = "clients.example.com/held"

// withWidgets has the definition installed while `run` runs, as controllers' tests do it.
func withWidgets(run func(*env)) func(*env) {
	return func(e *env) {
		log.SetLogger(logr.FromSlogHandler(slog.NewTextHandler(io.Discard, nil)))
		existing := true
		environment := &envtest.Environment{UseExistingCluster: &existing, Config: e.config, Scheme: schemeWithWidgets(),
			CRDInstallOptions: envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{widgetDefinition()}, CleanUpAfterUse: true}}
		_, err := environment.Start()
		e.ok(err)
		defer func() {
			e.ok(environment.Stop())
			reader := e.client()
			e.eventually("the end of the definition", func() bool {
				return apierrors.IsNotFound(reader.Get(e.ctx, types.NamespacedName{Name: "widgets." + widgets.Group}, &apiextensionsv1.CustomResourceDefinition{}))
			})
		}()
		run(e)
	}
}

func (e *env) client() client.WithWatch {
	made, err := client.NewWithWatch(e.config, client.Options{Scheme: schemeWithWidgets()})
	e.ok(err)
	return made
}

func (e *env) widget(name string) *Widget {
	return &Widget{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: e.ns}, Spec: WidgetSpec{Size: 3}}
}

// manager starts a manager that looks at this namespace alone.
func (e *env) manager(setUp func(ctrl.Manager)) (ctrl.Manager, func()) {
	skip := true
	made, err := ctrl.NewManager(e.config, ctrl.Options{Scheme: schemeWithWidgets(), Metrics: metricsserver.Options{BindAddress: "0"},
		Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{e.ns: {}}}, LeaderElection: true, LeaderElectionID: "checks",
		LeaderElectionNamespace: e.ns, LeaderElectionReleaseOnCancel: true, Controller: controllerConfig(skip)})
	e.ok(err)
	setUp(made)
	ctx, cancel := context.WithCancel(e.ctx)
	ended := make(chan error, 1)
	go func() { ended <- made.Start(ctx) }()
	e.that(made.GetCache().WaitForCacheSync(ctx), "the cache has not synced")
	return made, func() {
		cancel()
		e.ok(<-ended)
	}
}

// reconciler keeps a config map for each widget, says in its status what it has seen, and cleans up behind a deleted one.
type reconciler struct{ client.Client }

func (r reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	widget := &Widget{}
	if err := r.Get(ctx, request.NamespacedName, widget); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: widget.Name + "-kept", Namespace: widget.Namespace}}
	if !widget.DeletionTimestamp.IsZero() {
		if err := client.IgnoreNotFound(r.Delete(ctx, kept)); err != nil {
			return ctrl.Result{}, err
		}
		if controllerutil.RemoveFinalizer(widget, finalizer) {
			return ctrl.Result{}, r.Update(ctx, widget)
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(widget, finalizer) {
		return ctrl.Result{}, r.Update(ctx, widget)
	}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, kept, func() error {
		kept.Data = map[string]string{"size": fmt.Sprint(widget.Spec.Size), "color": widget.Spec.Color}
		return controllerutil.SetControllerReference(widget, kept, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	widget.Status.Seen = widget.Generation
	meta.SetStatusCondition(&widget.Status.Conditions, metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Kept", ObservedGeneration: widget.Generation})
	return ctrl.Result{}, r.Status().Update(ctx, widget)
}

func reconciles(e *env) {
	_, stop := e.manager(func(m ctrl.Manager) {
		e.ok(ctrl.NewControllerManagedBy(m).For(&Widget{}).Owns(&corev1.ConfigMap{}).Complete(reconciler{m.GetClient()}))
	})
	defer stop()
	direct := e.client()
	widget := e.widget("w")
	e.ok(direct.Create(e.ctx, widget))
	kept := &corev1.ConfigMap{}
	key := types.NamespacedName{Namespace: e.ns, Name: "w-kept"}
	data := func(size string) func() bool {
		return func() bool {
			return direct.Get(e.ctx, key, kept) == nil && kept.Data["size"] == size && kept.Data["color"] == "red"
		}
	}
	e.eventually("the kept config map", data("3"))
	e.that(metav1.IsControlledBy(kept, widget), "owners: %v", kept.OwnerReferences)
	e.ok(direct.Patch(e.ctx, widget, client.RawPatch(types.MergePatchType, []byte(`{"spec":{"size":4}}`))))
	e.eventually("the changed one", data("4"))
	e.ok(direct.Delete(e.ctx, kept.DeepCopy()))
	e.eventually("the one that is made again", data("4"))
	e.eventually("the status", func() bool {
		return direct.Get(e.ctx, client.ObjectKeyFromObject(widget), widget) == nil && widget.Status.Seen == widget.Generation &&
			meta.IsStatusConditionTrue(widget.Status.Conditions, "Ready")
	})
	e.same("generation", widget.Generation, int64(2))
	e.ok(direct.Delete(e.ctx, widget))
	e.eventually("the end of both", func() bool {
		return apierrors.IsNotFound(direct.Get(e.ctx, client.ObjectKeyFromObject(widget), widget)) && apierrors.IsNotFound(direct.Get(e.ctx, key, kept))
	})
}

func indexedCache(e *env) {
	m, stop := e.manager(func(m ctrl.Manager) {
		e.ok(m.GetFieldIndexer().IndexField(e.ctx, &Widget{}, "spec.color", func(o client.Object) []string { return []string{o.(*Widget).Spec.Color} }))
	})
	defer stop()
	for number, color := range []string{"red", "blue", "blue"} {
		widget := e.widget(fmt.Sprint("w", number))
		widget.Spec.Color = color
		e.ok(m.GetClient().Create(e.ctx, widget))
	}
	found := &WidgetList{}
	e.eventually("both blue ones", func() bool {
		e.ok(m.GetClient().List(e.ctx, found, client.InNamespace(e.ns), client.MatchingFields{"spec.color": "blue"}))
		return len(found.Items) == 2
	})
	e.ok(m.GetAPIReader().List(e.ctx, found, client.InNamespace(e.ns), client.MatchingFields{"spec.color": "blue"}))
	e.same("what the server selects", len(found.Items), 2)
}

func runtimePatches(e *env) {
	direct := e.client()
	widget := e.widget("w")
	e.ok(direct.Create(e.ctx, widget))
	old := widget.copy()
	widget.Spec.Size = 5
	e.ok(direct.Patch(e.ctx, widget, client.MergeFromWithOptions(old, client.MergeFromWithOptimisticLock{})))
	e.same("size", widget.Spec.Size, int64(5))
	stale := old.copy()
	stale.Spec.Size = 6
	e.that(apierrors.IsConflict(direct.Patch(e.ctx, stale, client.MergeFromWithOptions(old, client.MergeFromWithOptimisticLock{}))), "no conflict")
	err := direct.Patch(e.ctx, widget.copy(), client.StrategicMergeFrom(old))
	e.that(apierrors.IsUnsupportedMediaType(err), "strategic: %v", err)
	wrong := widget.copy()
	wrong.Spec.Size = -1
	err = direct.Update(e.ctx, wrong)
	e.that(apierrors.IsInvalid(err), "a size below 1: %v", err)
	e.says(err, "spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 1")
}

func runtimeApply(e *env) {
	direct := e.client()
	labels := applycore.ConfigMap("a", e.ns).WithData(map[string]string{"k": "v"})
	e.ok(direct.Apply(e.ctx, labels, client.FieldOwner("one")))
	e.same("answer", labels.Data, map[string]string{"k": "v"})
	e.that(labels.ResourceVersion != nil, "the answer was not read")
	other := applycore.ConfigMap("a", e.ns).WithData(map[string]string{"k": "w"})
	e.that(apierrors.IsConflict(direct.Apply(e.ctx, other, client.FieldOwner("two"))), "no conflict")
	other = applycore.ConfigMap("a", e.ns).WithData(map[string]string{"k": "w"})
	e.ok(direct.Apply(e.ctx, other, client.FieldOwner("two"), client.ForceOwnership))
	got := &corev1.ConfigMap{}
	e.ok(direct.Get(e.ctx, types.NamespacedName{Namespace: e.ns, Name: "a"}, got))
	e.same("data", got.Data, map[string]string{"k": "w"})
}

func widgetApply(e *env) {
	direct := e.client()
	what := func(spec map[string]any) client.ApplyOption {
		return client.FieldOwner(fmt.Sprint("owner-", len(spec)))
	}
	one := object("clients.example.com/v1", "Widget", "w", map[string]any{"spec": map[string]any{"size": int64(2)}})
	one.SetNamespace(e.ns)
	e.ok(direct.Apply(e.ctx, client.ApplyConfigurationFromUnstructured(one), what(map[string]any{"a": 1})))
	two := object("clients.example.com/v1", "Widget", "w", map[string]any{"spec": map[string]any{"size": int64(9)}})
	two.SetNamespace(e.ns)
	err := direct.Apply(e.ctx, client.ApplyConfigurationFromUnstructured(two), client.FieldOwner("other"))
	e.says(err, `conflict with "owner-1": .spec.size`)
	status := object("clients.example.com/v1", "Widget", "w", map[string]any{"status": map[string]any{"seen": int64(4),
		"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}}})
	status.SetNamespace(e.ns)
	e.ok(direct.Status().Apply(e.ctx, client.ApplyConfigurationFromUnstructured(status), client.FieldOwner("status")))
	got := &Widget{}
	e.ok(direct.Get(e.ctx, types.NamespacedName{Namespace: e.ns, Name: "w"}, got))
	e.same("spec", got.Spec, WidgetSpec{Size: 2, Color: "red"})
	e.same("seen", got.Status.Seen, int64(4))
}

func statusWriter(e *env) {
	direct := e.client()
	widget := e.widget("w")
	widget.Status.Seen = 7
	e.ok(direct.Create(e.ctx, widget))
	e.same("a created status is dropped", widget.Status.Seen, int64(0))
	widget.Status.Seen, widget.Spec.Size = 8, 100
	e.ok(direct.Status().Update(e.ctx, widget))
	e.same("status", widget.Status.Seen, int64(8))
	e.same("spec", widget.Spec.Size, int64(3))
	old := widget.copy()
	widget.Status.Seen = 9
	e.ok(direct.Status().Patch(e.ctx, widget, client.MergeFrom(old)))
	e.same("status", widget.Status.Seen, int64(9))
	e.same("generation", widget.Generation, int64(1))
}

func finalizers(e *env) {
	direct := e.client()
	widget := e.widget("w")
	controllerutil.AddFinalizer(widget, finalizer)
	e.ok(direct.Create(e.ctx, widget))
	found, err := direct.Watch(e.ctx, &WidgetList{}, client.InNamespace(e.ns))
	e.ok(err)
	defer found.Stop()
	e.same("event", string(e.next(found).Type), "ADDED")
	e.ok(direct.Delete(e.ctx, widget))
	held := e.next(found)
	e.same("event", string(held.Type), "MODIFIED")
	e.that(!held.Object.(*Widget).DeletionTimestamp.IsZero(), "no deletion timestamp")
	e.ok(direct.Delete(e.ctx, widget))
	e.ok(direct.Get(e.ctx, client.ObjectKeyFromObject(widget), widget))
	late := widget.copy()
	late.Finalizers = append(late.Finalizers, "clients.example.com/late")
	e.that(apierrors.IsInvalid(direct.Update(e.ctx, late)), "a finalizer on a deleted object")
	controllerutil.RemoveFinalizer(widget, finalizer)
	e.ok(direct.Update(e.ctx, widget))
	e.same("event", string(e.next(found).Type), "DELETED")
}

func runtimeScale(e *env) {
	direct := e.client()
	made := deployment("web")
	made.Namespace = e.ns
	e.ok(direct.Create(e.ctx, made))
	scale := scaleObject()
	e.ok(direct.SubResource("scale").Get(e.ctx, made, scale))
	scale.Spec.Replicas = 6
	e.ok(direct.SubResource("scale").Update(e.ctx, made, client.WithSubResourceBody(scale)))
	got := &appsv1.Deployment{}
	e.ok(direct.Get(e.ctx, client.ObjectKeyFromObject(made), got))
	e.same("replicas", *got.Spec.Replicas, int32(6))
	widget := e.widget("w")
	e.ok(direct.Create(e.ctx, widget))
	scale = scaleObject()
	e.ok(direct.SubResource("scale").Get(e.ctx, widget, scale))
	e.same("replicas of a widget", scale.Spec.Replicas, int32(3))
}

func runtimeDeletesAll(e *env) {
	direct := e.client()
	for number := range 4 {
		widget := e.widget(fmt.Sprint("w", number))
		widget.Labels = map[string]string{"half": fmt.Sprint(number % 2)}
		e.ok(direct.Create(e.ctx, widget))
	}
	e.ok(direct.DeleteAllOf(e.ctx, &Widget{}, client.InNamespace(e.ns), client.MatchingLabels{"half": "1"}))
	found := &WidgetList{}
	e.ok(direct.List(e.ctx, found, client.InNamespace(e.ns)))
	e.same("left", len(found.Items), 2)
	metadata := &metav1.PartialObjectMetadataList{}
	metadata.SetGroupVersionKind(widgets.GroupVersion().WithKind("WidgetList"))
	e.ok(direct.List(e.ctx, metadata, client.InNamespace(e.ns), client.Limit(1)))
	e.same("metadata", len(metadata.Items), 1)
	e.that(metadata.Continue != "", "no continuation")
}

func controlled() []check {
	return []check{
		{"controller-runtime: a manager and a reconciler", withWidgets(reconciles)}, {"controller-runtime: a cache with an index", withWidgets(indexedCache)},
		{"controller-runtime: patches", withWidgets(runtimePatches)}, {"controller-runtime: apply", runtimeApply},
		{"controller-runtime: apply of a custom resource", withWidgets(widgetApply)}, {"controller-runtime: status", withWidgets(statusWriter)},
		{"controller-runtime: finalizers", withWidgets(finalizers)}, {"controller-runtime: scale", withWidgets(runtimeScale)},
		{"controller-runtime: delete all of", withWidgets(runtimeDeletesAll)},
	}
}
