package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/scale"
	"k8s.io/client-go/tools/pager"
	"k8s.io/client-go/util/retry"
)

func (e *env) patch(kind types.PatchType, name, body string, subresources ...string) (*appsv1.Deployment, error) {
	return e.typed.AppsV1().Deployments(e.ns).Patch(e.ctx, name, kind, []byte(body), metav1.PatchOptions{FieldManager: "patcher"}, subresources...)
}

func (e *env) deploy(name string) *appsv1.Deployment {
	return must[*appsv1.Deployment](e)(e.typed.AppsV1().Deployments(e.ns).Create(e.ctx, deployment(name), metav1.CreateOptions{}))
}

func jsonPatch(e *env) {
	e.deploy("web")
	got := must[*appsv1.Deployment](e)(e.patch(types.JSONPatchType, "web", `[{"op":"test","path":"/spec/replicas","value":2},
		{"op":"replace","path":"/spec/replicas","value":5},{"op":"copy","from":"/metadata/name","path":"/spec/template/metadata/labels/copied"}]`))
	e.same("replicas", *got.Spec.Replicas, int32(5))
	e.same("labels", got.Spec.Template.Labels, map[string]string{"app": "web", "copied": "web"})
	_, err := e.patch(types.JSONPatchType, "web", `[{"op":"test","path":"/spec/replicas","value":2}]`)
	e.that(apierrors.IsInvalid(err), "a test that fails: %v", err)
}

func mergePatch(e *env) {
	e.deploy("web")
	got := must[*appsv1.Deployment](e)(e.patch(types.MergePatchType, "web", `{"spec":{"replicas":null,"paused":true}}`))
	e.same("replicas", *got.Spec.Replicas, int32(1))
	e.same("paused", got.Spec.Paused, true)
	_, err := e.patch(types.MergePatchType, "web", `{"metadata":{"resourceVersion":"1"}}`)
	e.that(apierrors.IsConflict(err), "an old version: %v", err)
	_, err = e.patch(types.MergePatchType, "none", `{}`)
	e.that(apierrors.IsNotFound(err), "no object: %v", err)
}

func strategicPatch(e *env) {
	e.deploy("web")
	got := must[*appsv1.Deployment](e)(e.patch(types.StrategicMergePatchType, "web", `{"spec":{"template":{"spec":{"containers":[
		{"name":"c","env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]},{"name":"side","image":"example.com/s:1"}]}}}}`))
	e.same("containers", len(got.Spec.Template.Spec.Containers), 2)
	got = must[*appsv1.Deployment](e)(e.patch(types.StrategicMergePatchType, "web", `{"spec":{"template":{"spec":{"containers":[
		{"name":"c","env":[{"name":"A","$patch":"delete"}]},{"name":"side","$patch":"delete"}]}}}}`))
	e.same("containers", len(got.Spec.Template.Spec.Containers), 1)
	e.same("image", got.Spec.Template.Spec.Containers[0].Image, "example.com/c:1")
	e.same("env", got.Spec.Template.Spec.Containers[0].Env, []corev1.EnvVar{{Name: "B", Value: "2"}})
}

func applyPatch(e *env) {
	body := `{apiVersion: v1, kind: ConfigMap, metadata: {name: in-yaml}, data: {k: v}}`
	got, err := e.typed.CoreV1().ConfigMaps(e.ns).Patch(e.ctx, "in-yaml", types.ApplyYAMLPatchType, []byte(body), metav1.PatchOptions{FieldManager: "yaml"})
	e.ok(err)
	e.same("data", got.Data, map[string]string{"k": "v"})
	e.same("manager", got.ManagedFields[0].Operation, metav1.ManagedFieldsOperationApply)
	_, err = e.typed.CoreV1().ConfigMaps(e.ns).Patch(e.ctx, "in-yaml", types.ApplyYAMLPatchType, []byte(body), metav1.PatchOptions{})
	e.says(err, "fieldManager: Required value")
}

func patchOfStatus(e *env) {
	e.deploy("web")
	got := must[*appsv1.Deployment](e)(e.patch(types.MergePatchType, "web", `{"spec":{"replicas":9},"status":{"replicas":3,"readyReplicas":3}}`, "status"))
	e.same("spec", *got.Spec.Replicas, int32(2))
	e.same("status", got.Status.ReadyReplicas, int32(3))
}

func updateStatus(e *env) {
	made := e.deploy("web")
	made.Spec.Replicas = new(int32)
	made.Status.ObservedGeneration, made.Status.Replicas = 1, 2
	got := must[*appsv1.Deployment](e)(e.typed.AppsV1().Deployments(e.ns).UpdateStatus(e.ctx, made, metav1.UpdateOptions{}))
	e.same("spec", *got.Spec.Replicas, int32(2))
	e.same("status", got.Status.Replicas, int32(2))
	e.same("generation", got.Generation, int64(1))
	last := got.ManagedFields[len(got.ManagedFields)-1]
	e.same("subresource of its manager", last.Subresource, "status")
}

func scaleTyped(e *env) {
	e.deploy("web")
	deployments := e.typed.AppsV1().Deployments(e.ns)
	found := must[*autoscalingv1.Scale](e)(deployments.GetScale(e.ctx, "web", metav1.GetOptions{}))
	e.same("selector", found.Status.Selector, "app=web")
	found.Spec.Replicas = 7
	found = must[*autoscalingv1.Scale](e)(deployments.UpdateScale(e.ctx, "web", found, metav1.UpdateOptions{}))
	e.same("replicas", found.Spec.Replicas, int32(7))
	got := must[*appsv1.Deployment](e)(deployments.Get(e.ctx, "web", metav1.GetOptions{}))
	e.same("replicas", *got.Spec.Replicas, int32(7))
	e.same("generation", got.Generation, int64(2))
}

func scaleClient(e *env) {
	e.deploy("web")
	finder := discovery.NewDiscoveryClientForConfigOrDie(e.config)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(finder))
	client, err := scale.NewForConfig(e.config, mapper, dynamic.LegacyAPIPathResolverFunc, scale.NewDiscoveryScaleKindResolver(finder))
	e.ok(err)
	got, err := client.Scales(e.ns).Get(e.ctx, deployments.GroupResource(), "web", metav1.GetOptions{})
	e.ok(err)
	got.Spec.Replicas = 4
	_, err = client.Scales(e.ns).Update(e.ctx, deployments.GroupResource(), got, metav1.UpdateOptions{})
	e.ok(err)
	patched, err := client.Scales(e.ns).Patch(e.ctx, deployments, "web", types.MergePatchType, []byte(`{"spec":{"replicas":6}}`), metav1.PatchOptions{})
	e.ok(err)
	e.same("replicas", patched.Spec.Replicas, int32(6))
	e.same("selector", patched.Status.Selector, "app=web")
}

func eviction(e *env) {
	pods := e.typed.CoreV1().Pods(e.ns)
	made := must[*corev1.Pod](e)(pods.Create(e.ctx, pod("p"), metav1.CreateOptions{}))
	one := intstr.FromInt32(1)
	_, err := e.typed.PolicyV1().PodDisruptionBudgets(e.ns).Create(e.ctx, &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Name: "b"},
		Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &one, Selector: &metav1.LabelSelector{MatchLabels: made.Labels}}}, metav1.CreateOptions{})
	e.ok(err)
	// A budget protects running pods only: the pending one may be evicted.
	made.Status.Phase = corev1.PodRunning
	made.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	_, err = pods.UpdateStatus(e.ctx, made, metav1.UpdateOptions{})
	e.ok(err)
	err = pods.EvictV1(e.ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p"}})
	e.that(apierrors.IsTooManyRequests(err), "a guarded pod: %v", err)
	e.ok(e.typed.PolicyV1().PodDisruptionBudgets(e.ns).Delete(e.ctx, "b", metav1.DeleteOptions{}))
	e.ok(pods.EvictV1(e.ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "p"}, DeleteOptions: metav1.NewDeleteOptions(0)}))
	_, err = pods.Get(e.ctx, "p", metav1.GetOptions{})
	e.that(apierrors.IsNotFound(err), "evicted: %v", err)
}

func deleteCollection(e *env) {
	for number := 0; number < 6; number++ {
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("c", number), Labels: map[string]string{"odd": fmt.Sprint(number % 2)}}}
		_, err := e.typed.CoreV1().ConfigMaps(e.ns).Create(e.ctx, made, metav1.CreateOptions{})
		e.ok(err)
	}
	maps := e.typed.CoreV1().ConfigMaps(e.ns)
	e.ok(maps.DeleteCollection(e.ctx, metav1.DeleteOptions{DryRun: []string{"All"}}, metav1.ListOptions{}))
	e.ok(maps.DeleteCollection(e.ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "odd=1"}))
	left := must[*corev1.ConfigMapList](e)(maps.List(e.ctx, metav1.ListOptions{LabelSelector: "odd"}))
	e.same("left", len(left.Items), 3)
	for _, item := range left.Items {
		e.same("odd", item.Labels["odd"], "0")
	}
}

func table(e *env) {
	e.deploy("web")
	found := &metav1.Table{}
	body, err := e.typed.AppsV1().RESTClient().Get().Namespace(e.ns).Resource("deployments").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(e.ctx)
	e.ok(err)
	e.ok(json.Unmarshal(body, found))
	e.same("rows", len(found.Rows), 1)
	e.same("cells", found.Rows[0].Cells[:4], []any{"web", "0/2", float64(0), float64(0)})
	e.same("columns", found.ColumnDefinitions[1].Name, "Ready")
	row := &metav1.PartialObjectMetadata{}
	e.ok(json.Unmarshal(found.Rows[0].Object.Raw, row))
	e.same("object", row.Name, "web")
}

func retryOnConflict(e *env) {
	e.configMap("counter", map[string]string{})
	maps := e.typed.CoreV1().ConfigMaps(e.ns)
	var all sync.WaitGroup
	problems := make([]error, 4)
	backoff := retry.DefaultRetry
	backoff.Steps = 200
	for worker := range problems {
		all.Add(1)
		go func() {
			defer all.Done()
			problems[worker] = retry.RetryOnConflict(backoff, func() error {
				got, err := maps.Get(e.ctx, "counter", metav1.GetOptions{})
				if err != nil {
					return err
				}
				if got.Data == nil {
					got.Data = map[string]string{}
				}
				got.Data["all"] += "x"
				_, err = maps.Update(e.ctx, got, metav1.UpdateOptions{})
				return err
			})
		}()
	}
	all.Wait()
	for _, problem := range problems {
		e.ok(problem)
	}
	got := must[*corev1.ConfigMap](e)(maps.Get(e.ctx, "counter", metav1.GetOptions{}))
	e.same("all updates", got.Data["all"], "xxxx")
}

func generateName(e *env) {
	names := map[string]bool{}
	for range 5 {
		made, err := e.typed.CoreV1().ConfigMaps(e.ns).Create(e.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "g-"}}, metav1.CreateOptions{})
		e.ok(err)
		e.that(strings.HasPrefix(made.Name, "g-") && len(made.Name) == 7, "name %q", made.Name)
		names[made.Name] = true
	}
	e.same("names", len(names), 5)
}

func pages(e *env) {
	for number := range 23 {
		e.configMap(fmt.Sprintf("p%02d", number), map[string]string{})
	}
	maps := e.typed.CoreV1().ConfigMaps(e.ns)
	first := must[*corev1.ConfigMapList](e)(maps.List(e.ctx, metav1.ListOptions{Limit: 5}))
	e.same("first page", len(first.Items), 5)
	e.that(first.RemainingItemCount != nil && *first.RemainingItemCount >= 18, "remaining %v", first.RemainingItemCount)
	e.ok(maps.Delete(e.ctx, "p22", metav1.DeleteOptions{}))
	next := must[*corev1.ConfigMapList](e)(maps.List(e.ctx, metav1.ListOptions{Limit: 500, Continue: first.Continue}))
	e.same("version of the second page", next.ResourceVersion, first.ResourceVersion)
	e.same("the deleted one is in it", next.Items[len(next.Items)-1].Name, "p22")
	lister := pager.New(pager.SimplePageFunc(func(options metav1.ListOptions) (runtime.Object, error) { return maps.List(e.ctx, options) }))
	lister.PageSize = 4
	count := 0
	e.ok(lister.EachListItem(e.ctx, metav1.ListOptions{}, func(runtime.Object) error { count++; return nil }))
	e.same("items", count, 22)
}

func warnings(e *env) {
	var heard collected
	config := e.with(func(c *rest.Config) { c.WarningHandler = &heard })
	_, err := kubernetes.NewForConfigOrDie(config).CoreV1().Pods(e.ns).Create(e.ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "w"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i", Env: []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "A", Value: "2"}}}}}},
		metav1.CreateOptions{})
	e.ok(err)
	e.that(len(heard.texts) == 1 && strings.Contains(heard.texts[0], `hides previous definition of "A"`), "heard %q", heard.texts)
}

type collected struct{ texts []string }

func (c *collected) HandleWarningHeader(_ int, _ string, text string) {
	c.texts = append(c.texts, text)
}

func fieldValidation(e *env) {
	var heard collected
	client := dynamic.NewForConfigOrDie(e.with(func(c *rest.Config) { c.WarningHandler = &heard })).Resource(configMaps).Namespace(e.ns)
	wrong := object("v1", "ConfigMap", "v", map[string]any{"dada": map[string]any{}})
	_, err := client.Create(e.ctx, wrong, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	e.that(apierrors.IsBadRequest(err), "strict: %v", err)
	e.says(err, `strict decoding error: unknown field "dada"`)
	_, err = client.Create(e.ctx, wrong, metav1.CreateOptions{FieldValidation: metav1.FieldValidationWarn, DryRun: []string{"All"}})
	e.ok(err)
	e.same("heard", heard.texts, []string{`unknown field "dada"`})
	got, err := client.Create(e.ctx, wrong, metav1.CreateOptions{FieldValidation: metav1.FieldValidationIgnore})
	e.ok(err)
	e.that(got.Object["dada"] == nil, "the unknown field was kept")
	e.same("heard", len(heard.texts), 1)
}

func dryRun(e *env) {
	all := []string{metav1.DryRunAll}
	deployments := e.typed.AppsV1().Deployments(e.ns)
	made := must[*appsv1.Deployment](e)(deployments.Create(e.ctx, deployment("dry"), metav1.CreateOptions{DryRun: all}))
	e.same("version", made.ResourceVersion, "")
	e.that(made.UID != "" && made.Spec.RevisionHistoryLimit != nil, "no defaults: %v", made)
	_, err := deployments.Get(e.ctx, "dry", metav1.GetOptions{})
	e.that(apierrors.IsNotFound(err), "it was made: %v", err)
	kept := e.deploy("web")
	put := kept.DeepCopy()
	put.Spec.Paused = true
	put = must[*appsv1.Deployment](e)(deployments.Update(e.ctx, put, metav1.UpdateOptions{DryRun: all}))
	e.same("paused", put.Spec.Paused, true)
	e.ok(deployments.Delete(e.ctx, "web", metav1.DeleteOptions{DryRun: all}))
	got := must[*appsv1.Deployment](e)(deployments.Get(e.ctx, "web", metav1.GetOptions{}))
	e.same("kept", got, kept)
}

func writes() []check {
	return []check{
		{"JSON patch", jsonPatch}, {"merge patch", mergePatch}, {"strategic merge patch", strategicPatch}, {"apply patch in YAML", applyPatch},
		{"patch of the status", patchOfStatus}, {"UpdateStatus", updateStatus}, {"scale of a typed client", scaleTyped},
		{"scale client", scaleClient}, {"eviction", eviction}, {"delete collection", deleteCollection}, {"table", table},
		{"retry on conflict", retryOnConflict}, {"generateName", generateName}, {"pages", pages}, {"warnings", warnings},
		{"field validation", fieldValidation}, {"dry run", dryRun},
	}
}
