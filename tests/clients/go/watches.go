package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

func (e *env) watch(options metav1.ListOptions) watch.Interface {
	found, err := e.typed.CoreV1().ConfigMaps(e.ns).Watch(e.ctx, options)
	e.ok(err)
	return found
}

func (e *env) next(from watch.Interface) watch.Event {
	select {
	case event, open := <-from.ResultChan():
		e.that(open, "the watch ended")
		return event
	case <-time.After(patience):
		e.fail("no event came")
	}
	return watch.Event{}
}

func (e *env) expect(from watch.Interface, kind watch.EventType, name string) *corev1.ConfigMap {
	event := e.next(from)
	e.same("event", event.Type, kind)
	found := event.Object.(*corev1.ConfigMap)
	e.same("name", found.Name, name)
	return found
}

func only(name string) string { return fields.OneTermEqualSelector("metadata.name", name).String() }

func watchBySelector(e *env) {
	list := must[*corev1.ConfigMapList](e)(e.typed.CoreV1().ConfigMaps(e.ns).List(e.ctx, metav1.ListOptions{}))
	found := e.watch(metav1.ListOptions{ResourceVersion: list.ResourceVersion, LabelSelector: "in=yes"})
	defer found.Stop()
	made := e.configMap("s", map[string]string{})
	for _, labels := range []map[string]string{{"in": "yes"}, {"in": "yes", "more": "x"}, {"in": "no"}} {
		made.Labels = labels
		made = must[*corev1.ConfigMap](e)(e.typed.CoreV1().ConfigMaps(e.ns).Update(e.ctx, made, metav1.UpdateOptions{}))
	}
	e.expect(found, watch.Added, "s")
	e.expect(found, watch.Modified, "s")
	left := e.expect(found, watch.Deleted, "s")
	e.same("the version is that of the change", left.ResourceVersion, made.ResourceVersion)
}

func watchResumes(e *env) {
	var versions []string
	for number := range 5 {
		versions = append(versions, e.configMap(fmt.Sprint("r", number), map[string]string{}).ResourceVersion)
	}
	found := e.watch(metav1.ListOptions{ResourceVersion: versions[1]})
	defer found.Stop()
	for number := 2; number < 5; number++ {
		e.same("version", e.expect(found, watch.Added, fmt.Sprint("r", number)).ResourceVersion, versions[number])
	}
}

func watchBookmarks(e *env) {
	yes := true
	first := e.configMap("b", map[string]string{})
	found := e.watch(metav1.ListOptions{FieldSelector: only("b"), SendInitialEvents: &yes, AllowWatchBookmarks: true,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	defer found.Stop()
	e.same("version", e.expect(found, watch.Added, "b").ResourceVersion, first.ResourceVersion)
	event := e.next(found)
	e.same("event", event.Type, watch.Bookmark)
	mark := event.Object.(*corev1.ConfigMap)
	e.same("annotations", mark.Annotations, map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	e.same("the mark is empty", mark.Name+mark.Namespace, "")
	e.ok(e.typed.CoreV1().ConfigMaps(e.ns).Delete(e.ctx, "b", metav1.DeleteOptions{}))
	e.expect(found, watch.Deleted, "b")
}

func watchTimeout(e *env) {
	second := int64(1)
	found := e.watch(metav1.ListOptions{TimeoutSeconds: &second})
	for event := range found.ResultChan() { // ends by itself
		e.that(event.Type != watch.Error, "an error: %v", event.Object)
	}
}

func watchToCome(e *env) {
	yes := true
	found, err := e.typed.CoreV1().ConfigMaps(e.ns).Watch(e.ctx, metav1.ListOptions{ResourceVersion: "999999999999", SendInitialEvents: &yes,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	if err != nil {
		e.says(err, "Too large resource version")
		return
	}
	defer found.Stop()
	event := e.next(found)
	e.same("event", event.Type, watch.Error)
	e.says(fmt.Errorf("%s", event.Object.(*metav1.Status).Message), "Too large resource version")
}

func watchMetadata(e *env) {
	e.configMap("m", map[string]string{"k": "v"})
	found, err := metadata.NewForConfigOrDie(e.config).Resource(configMaps).Namespace(e.ns).Watch(e.ctx, metav1.ListOptions{FieldSelector: only("m")})
	e.ok(err)
	defer found.Stop()
	event := e.next(found)
	e.same("event", event.Type, watch.Added)
	e.same("name", event.Object.(*metav1.PartialObjectMetadata).Name, "m")
}

func watchUntil(e *env) {
	first := e.configMap("u", map[string]string{"n": "0"})
	lister := cache.NewListWatchFromClient(e.typed.CoreV1().RESTClient(), "configmaps", e.ns, fields.OneTermEqualSelector("metadata.name", "u"))
	go func() {
		for range 3 {
			got, err := e.typed.CoreV1().ConfigMaps(e.ns).Get(e.ctx, "u", metav1.GetOptions{})
			if err == nil {
				got.Data["n"] += "x"
				_, _ = e.typed.CoreV1().ConfigMaps(e.ns).Update(e.ctx, got, metav1.UpdateOptions{})
			}
		}
	}()
	ctx, cancel := context.WithTimeout(e.ctx, patience)
	defer cancel()
	event, err := watchtools.Until(ctx, first.ResourceVersion, lister, func(event watch.Event) (bool, error) {
		return event.Object.(*corev1.ConfigMap).Data["n"] == "0xxx", nil
	})
	e.ok(err)
	e.same("event", event.Type, watch.Modified)
}

// A watch of all objects delivers every event once, in the order of versions, for writes of any client.
func watchOrder(e *env) {
	list := must[*corev1.ConfigMapList](e)(e.typed.CoreV1().ConfigMaps(e.ns).List(e.ctx, metav1.ListOptions{}))
	found := e.watch(metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	defer found.Stop()
	done := make(chan string, 100)
	for worker := range 5 {
		go func() {
			for number := range 20 {
				made, err := e.typed.CoreV1().ConfigMaps(e.ns).Create(e.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
					Name: fmt.Sprintf("o-%d-%d", worker, number)}}, metav1.CreateOptions{})
				if err != nil {
					done <- ""
					continue
				}
				done <- made.Name + "@" + made.ResourceVersion
			}
		}()
	}
	made, told := map[string]bool{}, map[string]bool{}
	for range 100 {
		made[<-done] = true
	}
	last := 0
	for len(told) < 100 {
		got := e.next(found).Object.(*corev1.ConfigMap)
		var version int
		_, err := fmt.Sscan(got.ResourceVersion, &version)
		e.ok(err)
		e.that(version > last, "%d behind %d", version, last)
		last = version
		if got.Name != "kube-root-ca.crt" {
			told[got.Name+"@"+got.ResourceVersion] = true
		}
	}
	e.same("events", told, made)
}

func watches() []check {
	return []check{
		{"watch by labels", watchBySelector}, {"watch from a version", watchResumes}, {"watch with initial events and their mark", watchBookmarks},
		{"watch that times out", watchTimeout}, {"watch with initial events of a version to come", watchToCome}, {"watch of metadata", watchMetadata},
		{"watch until", watchUntil}, {"watch tells all in order", watchOrder},
	}
}
