package main

import (
	"context"
	"os"
	"strings"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/disk"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

func aggregatedDiscovery(e *env) {
	var seen wire
	client := discovery.NewDiscoveryClientForConfigOrDie(e.with(seen.tap))
	groups, resources, err := client.ServerGroupsAndResources()
	e.ok(err)
	e.that(len(groups) > 10 && len(resources) > 10, "%d groups, %d versions", len(groups), len(resources))
	e.same("requests", len(seen.queries), 2)
	for _, answer := range seen.answer {
		e.that(strings.Contains(answer, "as=APIGroupDiscoveryList"), "answered %q", answer)
	}
	version, err := client.ServerVersion()
	e.ok(err)
	e.same("minor", version.Minor, "36")
}

func oldDiscovery(e *env) {
	client := discovery.NewDiscoveryClientForConfigOrDie(e.config)
	client.UseLegacyDiscovery = true
	_, old, err := client.ServerGroupsAndResources()
	e.ok(err)
	client.UseLegacyDiscovery = false
	_, aggregated, err := client.ServerGroupsAndResources()
	e.ok(err)
	names := func(lists []*metav1.APIResourceList) map[string]int {
		found := map[string]int{}
		for _, list := range lists {
			for _, each := range list.APIResources {
				found[list.GroupVersion+"/"+each.Name+" "+strings.Join(each.Verbs, ",")]++
			}
		}
		return found
	}
	e.same("what both list", names(aggregated), names(old))
}

func cachedDiscovery(e *env) {
	folder, err := os.MkdirTemp("", "backplane-discovery-")
	e.ok(err)
	defer func() { _ = os.RemoveAll(folder) }()
	client, err := disk.NewCachedDiscoveryClientForConfig(e.config, folder+"/discovery", folder+"/http", time.Minute)
	e.ok(err)
	for range 2 {
		found, err := client.ServerResourcesForGroupVersion("apps/v1")
		e.ok(err)
		e.that(len(found.APIResources) >= 5, "%v", found.APIResources)
	}
	client.Invalidate()
	_, err = client.ServerGroups()
	e.ok(err)
	e.that(client.Fresh(), "not fresh")
}

func mapper(e *env) {
	cached := memory.NewMemCacheClient(discovery.NewDiscoveryClientForConfigOrDie(e.config))
	found := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(cached), cached, nil)
	kind, err := found.KindFor(schema.GroupVersionResource{Resource: "deploy"})
	e.ok(err)
	e.same("deploy", kind, schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"})
	mapping, err := found.RESTMapping(schema.GroupKind{Kind: "Node"})
	e.ok(err)
	e.same("scope", mapping.Scope.Name(), meta.RESTScopeNameRoot)
	single, err := found.ResourceSingularizer("endpointslices")
	e.ok(err)
	e.same("singular", single, "endpointslice")
	all, _ := restmapper.NewDiscoveryCategoryExpander(cached).Expand("all")
	e.that(len(all) >= 9, "the category all is %v", all)
}

func openAPI3(e *env) {
	client := discovery.NewDiscoveryClientForConfigOrDie(e.config).OpenAPIV3()
	root := openapi3.NewRoot(client)
	versions, err := root.GroupVersions()
	e.ok(err)
	e.that(len(versions) > 15, "%v", versions)
	spec, err := root.GVSpec(schema.GroupVersion{Group: "apps", Version: "v1"})
	e.ok(err)
	found := spec.Components.Schemas["io.k8s.api.apps.v1.DeploymentSpec"]
	e.that(found != nil && len(found.Required) == 2, "DeploymentSpec: %v", found)
	path := spec.Paths.Paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]
	e.that(path != nil && path.Patch != nil && path.Put != nil, "no paths")
}

func openAPI2(e *env) {
	found, err := discovery.NewDiscoveryClientForConfigOrDie(e.config).OpenAPISchema()
	e.ok(err)
	e.same("swagger", found.Swagger, "2.0")
	names := map[string]bool{}
	for _, each := range found.Definitions.AdditionalProperties {
		names[each.Name] = true
	}
	e.that(names["io.k8s.api.core.v1.Pod"] && names["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"], "%d definitions", len(names))
}

// One of two candidates leads; when it releases the lease, the other one leads.
func leaders(e *env) {
	var leading atomic.Value
	leading.Store("")
	run := func(name string) context.CancelFunc {
		ctx, cancel := context.WithCancel(e.ctx)
		lock, err := resourcelock.New(resourcelock.LeasesResourceLock, e.ns, "leader", e.typed.CoreV1(), e.typed.CoordinationV1(),
			resourcelock.ResourceLockConfig{Identity: name})
		e.ok(err)
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{Lock: lock, ReleaseOnCancel: true,
			LeaseDuration: 60 * time.Second, RenewDeadline: 40 * time.Second, RetryPeriod: 200 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) { leading.Store(name) }, OnStoppedLeading: func() {}}})
		e.ok(err)
		go elector.Run(ctx)
		return cancel
	}
	one := run("one")
	e.eventually("the first leader", func() bool { return leading.Load() == "one" })
	two := run("two")
	defer two()
	one()
	e.eventually("the second leader", func() bool { return leading.Load() == "two" })
	lease := must[*coordinationv1.Lease](e)(e.typed.CoordinationV1().Leases(e.ns).Get(e.ctx, "leader", metav1.GetOptions{}))
	e.same("holder", *lease.Spec.HolderIdentity, "two")
	e.that(*lease.Spec.LeaseTransitions >= 1, "transitions: %d", *lease.Spec.LeaseTransitions)
}

func recordsEvents(e *env) {
	about := e.configMap("about", map[string]string{})
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: e.typed.EventsV1()})
	e.ok(broadcaster.StartRecordingToSinkWithContext(e.ctx))
	defer broadcaster.Shutdown()
	recorder := broadcaster.NewRecorder(scheme.Scheme, "backplane-check")
	for range 3 {
		recorder.Eventf(about, nil, corev1.EventTypeNormal, "Checked", "Check", "number %d", 7)
	}
	e.eventually("the event", func() bool {
		found, err := e.typed.EventsV1().Events(e.ns).List(e.ctx, metav1.ListOptions{FieldSelector: "reason=Checked"})
		e.ok(err)
		return len(found.Items) == 1 && found.Items[0].Regarding.Name == "about" && found.Items[0].Note == "number 7"
	})
}

func described() []check {
	return []check{
		{"discovery, aggregated", aggregatedDiscovery}, {"discovery, as it was before", oldDiscovery}, {"discovery, cached", cachedDiscovery},
		{"RESTMapper, short names, categories", mapper}, {"OpenAPI v3", openAPI3}, {"OpenAPI v2", openAPI2},
		{"leader election", leaders}, {"events", recordsEvents},
	}
}
