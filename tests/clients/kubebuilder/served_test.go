// A test of the sample project in which the server calls its webhooks: the project's own suites call their code directly.
package served

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	jobs "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	batchv1 "tutorial.kubebuilder.io/project/api/v1"
	batchv2 "tutorial.kubebuilder.io/project/api/v2"
	webhookv1 "tutorial.kubebuilder.io/project/internal/webhook/v1"
	webhookv2 "tutorial.kubebuilder.io/project/internal/webhook/v2"
)

const patience = 2 * time.Minute

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A client of a server with the project's definition and webhooks, which a manager serves.
func start(t *testing.T) client.WithWatch {
	scheme := runtime.NewScheme()
	must(t, clientscheme.AddToScheme(scheme), batchv1.AddToScheme(scheme), batchv2.AddToScheme(scheme))
	config := filepath.Join("..", "..", "config")
	environment := &envtest.Environment{Scheme: scheme, CRDDirectoryPaths: []string{filepath.Join(config, "crd", "bases")}, ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: envtest.WebhookInstallOptions{Paths: []string{filepath.Join(config, "webhook")}}}
	rest, err := environment.Start()
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		must(t, environment.Stop())
	})
	options := environment.WebhookInstallOptions
	manager, err := ctrl.NewManager(rest, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{Host: options.LocalServingHost, Port: options.LocalServingPort, CertDir: options.LocalServingCertDir})})
	must(t, err)
	must(t, webhookv1.SetupCronJobWebhookWithManager(manager), webhookv2.SetupCronJobWebhookWithManager(manager))
	go func() {
		if err := manager.Start(ctx); err != nil {
			t.Error(err)
		}
	}()
	api, err := client.NewWithWatch(rest, client.Options{Scheme: scheme})
	must(t, err)
	return api
}

func template() jobs.JobTemplateSpec {
	pod := core.PodSpec{RestartPolicy: core.RestartPolicyOnFailure, Containers: []core.Container{{Name: "c", Image: "example.com/c:1"}}}
	return jobs.JobTemplateSpec{Spec: jobs.JobSpec{Template: core.PodTemplateSpec{Spec: pod}}}
}

func firstVersion(name, schedule string) *batchv1.CronJob {
	return &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: batchv1.CronJobSpec{Schedule: schedule, JobTemplate: template()}}
}

func TestServed(t *testing.T) {
	api := start(t)
	ctx := context.Background()
	first := firstVersion("one", "*/5 * * * *")
	// Until the manager listens, its webhooks cannot be called.
	must(t, wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		return api.Create(ctx, first) == nil, nil
	}))
	second := &batchv2.CronJob{}

	t.Run("the mutating webhook sets defaults", func(t *testing.T) {
		if limit := first.Spec.SuccessfulJobsHistoryLimit; limit == nil || *limit != 3 {
			t.Errorf("%+v", first.Spec)
		}
	})
	t.Run("the validating webhooks refuse a wrong schedule of each version", func(t *testing.T) {
		minute := batchv2.CronField("wrong")
		other := &batchv2.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "two"},
			Spec: batchv2.CronJobSpec{Schedule: batchv2.CronSchedule{Minute: &minute}, JobTemplate: template()}}
		for _, wrong := range []client.Object{firstVersion("two", "wrong * * * *"), other} {
			if err := api.Create(ctx, wrong); !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "spec.schedule") {
				t.Errorf("%T: %v", wrong, err)
			}
		}
	})
	t.Run("the conversion webhook serves the other version", func(t *testing.T) {
		must(t, api.Get(ctx, client.ObjectKeyFromObject(first), second))
		if minute := second.Spec.Schedule.Minute; minute == nil || *minute != "*/5" || second.Spec.Schedule.Hour != nil {
			t.Errorf("%+v", second.Spec.Schedule)
		}
	})
	t.Run("a watch of one version shows updates of the other", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		events, err := api.Watch(ctx, &batchv1.CronJobList{}, client.InNamespace("default"), &client.ListOptions{
			Raw: &metav1.ListOptions{ResourceVersion: second.ResourceVersion}})
		must(t, err)
		defer events.Stop()
		hour := batchv2.CronField("4")
		second.Spec.Schedule.Hour = &hour
		must(t, api.Update(ctx, second))
		event, ok := <-events.ResultChan()
		if !ok {
			t.Fatal("no event")
		}
		if seen := event.Object.(*batchv1.CronJob); seen.Spec.Schedule != "*/5 4 * * *" || seen.ResourceVersion != second.ResourceVersion {
			t.Errorf("%+v", seen)
		}
	})
	t.Run("server-side apply of one version keeps the fields of another manager", func(t *testing.T) {
		patch := []byte(`{"apiVersion":"batch.tutorial.kubebuilder.io/v1","kind":"CronJob","metadata":{"name":"one","namespace":"default"},"spec":{"suspend":true}}`)
		must(t, api.Patch(ctx, first, client.RawPatch("application/apply-patch+yaml", patch), client.FieldOwner("tester"), client.ForceOwnership))
		if first.Spec.Schedule != "*/5 4 * * *" || first.Spec.Suspend == nil || !*first.Spec.Suspend {
			t.Errorf("%+v", first.Spec)
		}
		must(t, api.Get(ctx, client.ObjectKeyFromObject(first), second))
		if second.Spec.Suspend == nil || !*second.Spec.Suspend {
			t.Errorf("%+v", second.Spec)
		}
	})
}
