package main

import (
	"net/http"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// wire records the requests and responses of a client.
type wire struct {
	mu           sync.Mutex
	queries      []string
	sent, answer []string // content types
}

func (w *wire) tap(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return tapped{w, next} })
}

type tapped struct {
	wire *wire
	next http.RoundTripper
}

func (t tapped) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.next.RoundTrip(request)
	t.wire.mu.Lock()
	defer t.wire.mu.Unlock()
	t.wire.queries = append(t.wire.queries, request.URL.RawQuery)
	t.wire.sent = append(t.wire.sent, request.Header.Get("Content-Type"))
	if err == nil {
		t.wire.answer = append(t.wire.answer, response.Header.Get("Content-Type"))
	}
	return response, err
}

func (w *wire) asked(text string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	count := 0
	for _, query := range w.queries {
		if strings.Contains(query, text) {
			count++
		}
	}
	return count
}

// all: every answer of the client had this content type.
func (w *wire) all(e *env, contentType string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, each := range w.answer {
		e.that(strings.HasPrefix(each, contentType), "answered %q, asked for %q", each, contentType)
	}
	e.that(len(w.answer) > 0, "nothing was asked")
}

func deployment(name string) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	replicas := int32(2)
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "c", Image: "example.com/c:1"}}}}}}
}

func pod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": name}}, Spec: corev1.PodSpec{
		Containers: []corev1.Container{{Name: "c", Image: "example.com/c:1"}}}}
}

// life takes a Deployment through its verbs.
func life(e *env, client kubernetes.Interface) {
	deployments := client.AppsV1().Deployments(e.ns)
	made := must[*appsv1.Deployment](e)(deployments.Create(e.ctx, deployment("web"), metav1.CreateOptions{}))
	e.same("strategy", made.Spec.Strategy.Type, appsv1.RollingUpdateDeploymentStrategyType)
	e.same("generation", made.Generation, int64(1))
	made.Spec.Template.Spec.Containers[0].Image = "example.com/c:2"
	made.Annotations = map[string]string{"grüße": "no"}
	_, err := deployments.Update(e.ctx, made, metav1.UpdateOptions{})
	e.that(apierrors.IsInvalid(err), "a bad annotation: %v", err)
	made.Annotations = map[string]string{"greeting": "grüße\x00\n"}
	put := must[*appsv1.Deployment](e)(deployments.Update(e.ctx, made, metav1.UpdateOptions{}))
	e.same("generation", put.Generation, int64(2))
	e.same("annotation", put.Annotations["greeting"], "grüße\x00\n")
	_, err = deployments.Update(e.ctx, made, metav1.UpdateOptions{})
	e.that(apierrors.IsConflict(err), "an old version: %v", err)
	list := must[*appsv1.DeploymentList](e)(deployments.List(e.ctx, metav1.ListOptions{LabelSelector: "!none"}))
	e.same("list", len(list.Items), 1)
	e.same("image", list.Items[0].Spec.Template.Spec.Containers[0].Image, "example.com/c:2")
	e.ok(deployments.Delete(e.ctx, "web", metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(put.UID))}))
	_, err = deployments.Get(e.ctx, "web", metav1.GetOptions{})
	e.that(apierrors.IsNotFound(err), "deleted: %v", err)
	e.says(err, `deployments.apps "web" not found`)
}

func typedIn(contentType string) func(*env) {
	return func(e *env) {
		var seen wire
		config := e.with(func(c *rest.Config) {
			c.ContentType, c.AcceptContentTypes = contentType, contentType
			seen.tap(c)
		})
		life(e, kubernetes.NewForConfigOrDie(config))
		seen.all(e, contentType)
	}
}

func watchIn(contentType string) func(*env) {
	return func(e *env) {
		config := e.with(func(c *rest.Config) { c.ContentType, c.AcceptContentTypes = contentType, contentType })
		maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps(e.ns)
		first := e.configMap("first", map[string]string{"k": "v"})
		watch, err := maps.Watch(e.ctx, metav1.ListOptions{ResourceVersion: first.ResourceVersion})
		e.ok(err)
		defer watch.Stop()
		e.configMap("second", map[string]string{"k": "w"})
		got := (<-watch.ResultChan()).Object.(*corev1.ConfigMap)
		e.same("data", got.Data, map[string]string{"k": "w"})
		e.ok(maps.Delete(e.ctx, "first", metav1.DeleteOptions{}))
		event := <-watch.ResultChan()
		e.same("event", string(event.Type), "DELETED")
		e.same("name", event.Object.(*corev1.ConfigMap).Name, "first")
	}
}

func object(gvk string, kind, name string, rest map[string]any) *unstructured.Unstructured {
	content := map[string]any{"apiVersion": gvk, "kind": kind, "metadata": map[string]any{"name": name}}
	for key, value := range rest {
		content[key] = value
	}
	return &unstructured.Unstructured{Object: content}
}

func dynamicLife(e *env) {
	var seen wire
	client := dynamic.NewForConfigOrDie(e.with(seen.tap)).Resource(configMaps).Namespace(e.ns)
	must[*unstructured.Unstructured](e)(client.Create(e.ctx, object("v1", "ConfigMap", "d", map[string]any{
		"data": map[string]any{"k": "v"}, "binaryData": map[string]any{"b": "AP8="}}), metav1.CreateOptions{}))
	got := must[*unstructured.Unstructured](e)(client.Get(e.ctx, "d", metav1.GetOptions{}))
	data, _, _ := unstructured.NestedStringMap(got.Object, "data")
	e.same("data", data, map[string]string{"k": "v"})
	e.ok(unstructured.SetNestedField(got.Object, "w", "data", "k"))
	must[*unstructured.Unstructured](e)(client.Update(e.ctx, got, metav1.UpdateOptions{}))
	list := must[*unstructured.UnstructuredList](e)(client.List(e.ctx, metav1.ListOptions{FieldSelector: "metadata.name=d"}))
	e.same("items", len(list.Items), 1)
	e.same("kind of the list", list.GetKind(), "ConfigMapList")
	e.same("kind of an item", list.Items[0].GetKind(), "ConfigMap")
	e.ok(client.Delete(e.ctx, "d", metav1.DeleteOptions{}))
	typed, err := e.typed.CoreV1().ConfigMaps(e.ns).List(e.ctx, metav1.ListOptions{})
	e.ok(err)
	for _, item := range typed.Items {
		e.that(item.Name != "d", "it is still there")
	}
}

func dynamicCBOR(e *env) {
	withCBOR(func() {
		var seen wire
		client := dynamic.NewForConfigOrDie(e.with(seen.tap)).Resource(configMaps).Namespace(e.ns)
		must[*unstructured.Unstructured](e)(client.Create(e.ctx, object("v1", "ConfigMap", "c", map[string]any{
			"data": map[string]any{"k": "v"}, "binaryData": map[string]any{"b": "AP8="}}), metav1.CreateOptions{}))
		applied := must[*unstructured.Unstructured](e)(client.Apply(e.ctx, "c", object("v1", "ConfigMap", "c", map[string]any{
			"data": map[string]any{"l": "w"}}), metav1.ApplyOptions{FieldManager: "cbor"}))
		data, _, _ := unstructured.NestedStringMap(applied.Object, "data")
		e.same("data", data, map[string]string{"k": "v", "l": "w"})
		list := must[*unstructured.UnstructuredList](e)(client.List(e.ctx, metav1.ListOptions{}))
		e.that(len(list.Items) >= 1, "no items")
		seen.all(e, "application/cbor")
		e.same("sent", seen.sent[:2], []string{"application/cbor", "application/apply-patch+cbor"})
		got := must[*corev1.ConfigMap](e)(e.typed.CoreV1().ConfigMaps(e.ns).Get(e.ctx, "c", metav1.GetOptions{}))
		e.same("binary data", got.BinaryData, map[string][]byte{"b": {0, 255}})
	})
}

func metadataLife(e *env) {
	e.configMap("m", map[string]string{"k": "v"})
	client := metadata.NewForConfigOrDie(e.config).Resource(configMaps).Namespace(e.ns)
	patched := must[*metav1.PartialObjectMetadata](e)(client.Patch(e.ctx, "m", "application/merge-patch+json",
		[]byte(`{"metadata":{"labels":{"l":"x"}}}`), metav1.PatchOptions{}))
	e.same("labels", patched.Labels, map[string]string{"l": "x"})
	list := must[*metav1.PartialObjectMetadataList](e)(client.List(e.ctx, metav1.ListOptions{LabelSelector: "l=x"}))
	e.same("items", len(list.Items), 1)
	e.ok(client.DeleteCollection(e.ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "l=x"}))
	_, err := client.Get(e.ctx, "m", metav1.GetOptions{})
	e.that(apierrors.IsNotFound(err), "deleted: %v", err)
}

// Bytes of a REST client are what the typed one has decoded.
func rawBytes(e *env) {
	e.configMap("r", map[string]string{"k": "v"})
	body, err := e.typed.CoreV1().RESTClient().Get().Namespace(e.ns).Resource("configmaps").Name("r").
		SetHeader("Accept", "application/vnd.kubernetes.protobuf").DoRaw(e.ctx)
	e.ok(err)
	e.same("magic", string(body[:4]), "k8s\x00")
	found, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	e.ok(err)
	e.same("data", found.(*corev1.ConfigMap).Data, map[string]string{"k": "v"})
}

func basics() []check {
	return []check{
		{"typed client, JSON", typedIn("application/json")},
		{"typed client, protobuf", typedIn("application/vnd.kubernetes.protobuf")},
		{"typed client, CBOR", func(e *env) { withCBOR(func() { typedIn("application/cbor")(e) }) }},
		{"watch, JSON", watchIn("application/json")},
		{"watch, protobuf", watchIn("application/vnd.kubernetes.protobuf")},
		{"watch, CBOR", func(e *env) { withCBOR(func() { watchIn("application/cbor")(e) }) }},
		{"dynamic client", dynamicLife},
		{"dynamic client, CBOR", dynamicCBOR},
		{"metadata client", metadataLife},
		{"REST client, bytes", rawBytes},
	}
}
