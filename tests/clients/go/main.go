// Checks of a running server with Kubernetes' own Go clients: one line for each, "ok NAME" or "FAIL NAME: why".
//
// Every check has a separate namespace.  "RESTART" on standard output asks the parent process to kill the server and restart it on its
// data and its port; the response is a line on standard input.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	corev1 "k8s.io/api/core/v1"
)

const patience = 60 * time.Second

var (
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	widgets     = schema.GroupVersionResource{Group: "clients.example.com", Version: "v1", Resource: "widgets"}
)

type check struct {
	name string
	run  func(*env)
}

// env is what a check works with.
type env struct {
	ctx     context.Context
	config  *rest.Config
	typed   kubernetes.Interface
	dynamic dynamic.Interface
	ns      string
	restart func()
}

// failure ends a check; any other panic is a bug of the check, and is reported too.
type failure string

func (e *env) fail(format string, args ...any) { panic(failure(fmt.Sprintf(format, args...))) }

func (e *env) ok(err error) {
	if err != nil {
		e.fail("%v", err)
	}
}

func (e *env) same(what string, got, want any) {
	if !reflect.DeepEqual(got, want) {
		e.fail("%s: %#v, not %#v", what, got, want)
	}
}

func (e *env) that(holds bool, format string, args ...any) {
	if !holds {
		e.fail(format, args...)
	}
}

// says: the error is there, and its text holds every one of these.
func (e *env) says(err error, texts ...string) {
	if err == nil {
		e.fail("no error, expected %q", texts)
	}
	for _, text := range texts {
		e.that(strings.Contains(err.Error(), text), "%q does not say %q", err, text)
	}
}

func (e *env) eventually(what string, holds func() bool) {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if holds() {
			return
		}
	}
	e.fail("%s did not come about", what)
}

// with is the configuration, changed.
func (e *env) with(change func(*rest.Config)) *rest.Config {
	config := rest.CopyConfig(e.config)
	change(config)
	return config
}

func must[T any](e *env) func(T, error) T {
	return func(value T, err error) T {
		e.ok(err)
		return value
	}
}

func (e *env) configMap(name string, data map[string]string) *corev1.ConfigMap {
	made, err := e.typed.CoreV1().ConfigMaps(e.ns).Create(e.ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}, metav1.CreateOptions{})
	e.ok(err)
	return made
}

func runOne(base env, number int, each check) (problem string) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*patience)
	defer cancel()
	base.ctx = ctx
	base.ns = fmt.Sprintf("check-%d", number)
	defer func() {
		if found := recover(); found != nil {
			problem = strings.ReplaceAll(fmt.Sprint(found), "\n", " ")
		}
	}()
	_, err := base.typed.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: base.ns}}, metav1.CreateOptions{})
	base.ok(err)
	each.run(&base)
	return ""
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		fmt.Println("FAIL kubeconfig:", err)
		os.Exit(1)
	}
	config.QPS, config.Burst = -1, 0 // a check waits for the server alone
	replaceGates()
	input := bufio.NewReader(os.Stdin)
	base := env{config: config, typed: kubernetes.NewForConfigOrDie(config), dynamic: dynamic.NewForConfigOrDie(config), restart: func() {
		fmt.Println("RESTART")
		if _, err := input.ReadString('\n'); err != nil {
			panic(failure("nobody started the server again"))
		}
	}}
	var only string
	if len(os.Args) > 2 {
		only = os.Args[2]
	}
	failed := false
	for number, each := range all() {
		if !strings.Contains(each.name, only) {
			continue
		}
		if problem := runOne(base, number, each); problem != "" {
			failed = true
			fmt.Printf("FAIL %s: %s\n", each.name, problem)
			continue
		}
		fmt.Println("ok", each.name)
	}
	if failed {
		os.Exit(1)
	}
}

func all() []check {
	checks := append(basics(), writes()...)
	checks = append(checks, applies()...)
	checks = append(checks, watches()...)
	checks = append(checks, informed()...)
	checks = append(checks, described()...)
	checks = append(checks, controlled()...)
	checks = append(checks, cached()...)
	return append(checks, survivals()...)
}
