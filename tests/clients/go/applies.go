package main

import (
	"encoding/json"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applyapps "k8s.io/client-go/applyconfigurations/apps/v1"
	applyautoscaling "k8s.io/client-go/applyconfigurations/autoscaling/v1"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
)

func by(manager string) metav1.ApplyOptions { return metav1.ApplyOptions{FieldManager: manager} }

func forced(manager string) metav1.ApplyOptions {
	return metav1.ApplyOptions{FieldManager: manager, Force: true}
}

func (e *env) webApply() *applyapps.DeploymentApplyConfiguration {
	labels := map[string]string{"app": "web"}
	return applyapps.Deployment("web", e.ns).WithSpec(applyapps.DeploymentSpec().WithReplicas(2).
		WithSelector(applymeta.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(applycore.PodTemplateSpec().WithLabels(labels).WithSpec(applycore.PodSpec().WithContainers(
			applycore.Container().WithName("c").WithImage("example.com/c:1")))))
}

func (e *env) apply(what *applyapps.DeploymentApplyConfiguration, options metav1.ApplyOptions) (*appsv1.Deployment, error) {
	return e.typed.AppsV1().Deployments(e.ns).Apply(e.ctx, what, options)
}

func replicas(e *env, count int32) *applyapps.DeploymentApplyConfiguration {
	return applyapps.Deployment("web", e.ns).WithSpec(applyapps.DeploymentSpec().WithReplicas(count))
}

// owners are the managers of spec.replicas, by name.
func owners(e *env, of *appsv1.Deployment) []string {
	var found []string
	for _, entry := range of.ManagedFields {
		var fields map[string]map[string]any
		e.ok(json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields))
		if _, has := fields["f:spec"]["f:replicas"]; has {
			found = append(found, entry.Manager)
		}
	}
	slices.Sort(found)
	return found
}

func applyCreates(e *env) {
	made := must[*appsv1.Deployment](e)(e.apply(e.webApply(), by("one")))
	e.same("replicas", *made.Spec.Replicas, int32(2))
	e.same("managers", len(made.ManagedFields), 1)
	again := must[*appsv1.Deployment](e)(e.apply(e.webApply(), by("one")))
	e.same("an apply that changes nothing", again, made)
}

func applyConflicts(e *env) {
	must[*appsv1.Deployment](e)(e.apply(e.webApply(), by("one")))
	_, err := e.apply(replicas(e, 5), by("two"))
	e.that(apierrors.IsConflict(err), "no conflict: %v", err)
	e.says(err, `Apply failed with 1 conflict: conflict with "one": .spec.replicas`)
	causes := err.(apierrors.APIStatus).Status().Details.Causes
	e.same("causes", causes, []metav1.StatusCause{{Type: metav1.CauseTypeFieldManagerConflict, Message: `conflict with "one"`, Field: ".spec.replicas"}})
}

func applyForced(e *env) {
	must[*appsv1.Deployment](e)(e.apply(e.webApply(), by("one")))
	got := must[*appsv1.Deployment](e)(e.apply(replicas(e, 5), forced("two")))
	e.same("replicas", *got.Spec.Replicas, int32(5))
	e.same("owners", owners(e, got), []string{"two"})
	_, err := e.apply(e.webApply(), by("one"))
	e.says(err, `conflict with "two": .spec.replicas`)
}

func applyShared(e *env) {
	must[*appsv1.Deployment](e)(e.apply(e.webApply(), by("one")))
	got := must[*appsv1.Deployment](e)(e.apply(replicas(e, 2), by("two")))
	e.same("owners", owners(e, got), []string{"one", "two"})
	without := e.webApply()
	without.Spec.Replicas = nil
	got = must[*appsv1.Deployment](e)(e.apply(without, by("one")))
	e.same("owners", owners(e, got), []string{"two"})
	e.same("what two has stays", *got.Spec.Replicas, int32(2))
	got = must[*appsv1.Deployment](e)(e.apply(applyapps.Deployment("web", e.ns), by("two")))
	e.same("what nobody has is defaulted", *got.Spec.Replicas, int32(1))
}

func applyRemoves(e *env) {
	what := e.webApply()
	what.Spec.Template.Spec.WithContainers(applycore.Container().WithName("side").WithImage("example.com/s:1"))
	got := must[*appsv1.Deployment](e)(e.apply(what, by("one")))
	e.same("containers", len(got.Spec.Template.Spec.Containers), 2)
	got = must[*appsv1.Deployment](e)(e.apply(e.webApply(), by("one")))
	e.same("containers", len(got.Spec.Template.Spec.Containers), 1)
}

func applyExtracts(e *env) {
	must[*appsv1.Deployment](e)(e.apply(e.webApply(), by("one")))
	got := must[*appsv1.Deployment](e)(e.patch(types.MergePatchType, "web", `{"spec":{"paused":true}}`))
	mine, err := applyapps.ExtractDeployment(got, "one")
	e.ok(err)
	e.same("what was applied", mine, e.webApply())
	mine.Spec.Template.Spec.Containers[0].WithImage("example.com/c:2")
	got = must[*appsv1.Deployment](e)(e.apply(mine, by("one")))
	e.same("image", got.Spec.Template.Spec.Containers[0].Image, "example.com/c:2")
	e.same("what another one wrote", got.Spec.Paused, true)
}

func applyStatus(e *env) {
	must[*appsv1.Deployment](e)(e.apply(e.webApply(), by("one")))
	got, err := e.typed.AppsV1().Deployments(e.ns).ApplyStatus(e.ctx, applyapps.Deployment("web", e.ns).WithStatus(
		applyapps.DeploymentStatus().WithReplicas(2).WithConditions(applyapps.DeploymentCondition().
			WithType(appsv1.DeploymentAvailable).WithStatus(corev1.ConditionTrue))), by("controller"))
	e.ok(err)
	e.same("replicas", got.Status.Replicas, int32(2))
	e.same("conditions", len(got.Status.Conditions), 1)
	mine, err := applyapps.ExtractDeploymentStatus(got, "controller")
	e.ok(err)
	e.same("extracted", *mine.Status.Replicas, int32(2))
	e.that(mine.Spec == nil, "the spec is not the status'")
}

func applyScale(e *env) {
	must[*appsv1.Deployment](e)(e.apply(e.webApply(), by("one")))
	scale := applyautoscaling.Scale().WithName("web").WithSpec(applyautoscaling.ScaleSpec().WithReplicas(8))
	_, err := e.typed.AppsV1().Deployments(e.ns).ApplyScale(e.ctx, "web", scale, by("scaler"))
	e.says(err, `conflict with "one"`)
	got, err := e.typed.AppsV1().Deployments(e.ns).ApplyScale(e.ctx, "web", scale, forced("scaler"))
	e.ok(err)
	e.same("replicas", got.Spec.Replicas, int32(8))
	found := must[*appsv1.Deployment](e)(e.typed.AppsV1().Deployments(e.ns).Get(e.ctx, "web", metav1.GetOptions{}))
	e.same("owners", owners(e, found), []string{"scaler"})
}

func applyAfterUpdate(e *env) {
	made := e.deploy("web")
	e.same("manager", made.ManagedFields[0].Operation, metav1.ManagedFieldsOperationUpdate)
	_, err := e.apply(replicas(e, 3), by("one"))
	e.that(apierrors.IsConflict(err), "no conflict: %v", err)
	got := must[*appsv1.Deployment](e)(e.apply(replicas(e, 2), by("one")))
	e.same("owners", len(owners(e, got)), 2)
}

func applies() []check {
	return []check{
		{"apply creates, and changes nothing", applyCreates}, {"apply, conflict", applyConflicts}, {"apply, forced", applyForced},
		{"apply, shared fields", applyShared}, {"apply removes", applyRemoves}, {"apply, extracted", applyExtracts},
		{"apply of the status", applyStatus}, {"apply of the scale", applyScale}, {"apply after an update", applyAfterUpdate},
	}
}
