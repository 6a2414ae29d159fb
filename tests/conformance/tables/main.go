// Prints tables as kube-apiserver does, with its own printers: for each kind named on standard input (a JSON list of {apiVersion, kind,
// namespace, count, seed}) that many objects made at random, as they are stored (protobuf, base64) and with the columns and cells of their table.
package main

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	apitesting "k8s.io/kubernetes/pkg/api/testing"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	core "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/flowcontrol"
	"k8s.io/kubernetes/pkg/apis/rbac"
	"k8s.io/kubernetes/pkg/apis/storage"
	"k8s.io/kubernetes/pkg/printers"
	printersinternal "k8s.io/kubernetes/pkg/printers/internalversion"
	"sigs.k8s.io/randfill"
)

// Asked is a request: a kind and the number of its objects.
type Asked struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace"`
	Count      int    `json:"count"`
	Seed       int64  `json:"seed"`
}

// Printed is one object and its row, or the error.
type Printed struct {
	APIVersion string                         `json:"apiVersion"`
	Kind       string                         `json:"kind"`
	Name       string                         `json:"name"`
	Stored     []byte                         `json:"stored"`
	Columns    []metav1.TableColumnDefinition `json:"columns"`
	Cells      []any                          `json:"cells"`
	Problem    string                         `json:"problem,omitempty"`
}

var words = []string{"", "a", "web-1", "x.example.com/b", "10.0.0.7", "fd00::7", "True", "False", "Unknown", "Ready", "PodReady", "Running",
	"Succeeded", "Failed", "Pending", "Terminating", "Bound", "node-role.kubernetes.io/worker", "kubernetes.io/role", "LoadBalancer", "ExternalName",
	"ClusterIP", "NodePort", "InternalIP", "ExternalIP", "Complete", "Suspended", "Approved", "Denied", "None", "Always", "Completed", "Error",
	"a word with blanks", "quite long text that a column could want to cut somewhere behind its fortieth letter", "<none>"}

// Ages that do not change during the test.
var ages = []time.Duration{10*time.Hour + 30*time.Minute, 76*time.Hour + 30*time.Minute, (20*24 + 12) * time.Hour, (365*3 + 20) * 24 * time.Hour,
	(365*9*24 + 100) * time.Hour}

func pastTime(c randfill.Continue) *metav1.Time {
	t := metav1.NewTime(now.Add(-ages[c.Intn(len(ages))]))
	return &t
}

func named(c randfill.Continue) string { return words[1+c.Intn(len(words)-1)] }

var now = time.Now().Truncate(time.Second)

func plain(serializer.CodecFactory) []any {
	return []any{
		func(s *string, c randfill.Continue) { *s = words[c.Intn(len(words))] },
		func(i *int32, c randfill.Continue) { *i = []int32{0, 1, 2, 3, 80, 8443, 100}[c.Intn(7)] },
		func(i *int64, c randfill.Continue) { *i = []int64{0, 1, 2, 3, 30, 3600, 100000}[c.Intn(7)] },
		func(t *metav1.Time, c randfill.Continue) {
			if c.Intn(5) > 0 {
				*t = metav1.NewTime(now.Add(-ages[c.Intn(len(ages))]))
			}
		},
		func(t *metav1.MicroTime, c randfill.Continue) {
			if c.Intn(5) > 0 {
				*t = metav1.NewMicroTime(now.Add(-ages[c.Intn(len(ages))]))
			}
		},
		// Stored JSON has no pointers to a time that is zero.
		func(t **metav1.Time, c randfill.Continue) { *t = pastTime(c) },
		// Members that every valid object has.
		func(o *core.Container, c randfill.Continue) {
			c.FillNoCustom(o)
			o.Name, o.Image = named(c), named(c)
			o.TerminationMessagePath, o.TerminationMessagePolicy, o.ImagePullPolicy = "/x", core.TerminationMessageReadFile, core.PullAlways
		},
		func(o *core.ObjectReference, c randfill.Continue) {
			*o = core.ObjectReference{Kind: "Pod", Namespace: "n", Name: named(c), FieldPath: words[c.Intn(len(words))]}
		},
		func(o *rbac.RoleRef, c randfill.Continue) {
			*o = rbac.RoleRef{APIGroup: rbac.GroupName, Kind: "Role", Name: named(c)}
		},
		func(o *autoscaling.CrossVersionObjectReference, c randfill.Continue) {
			*o = autoscaling.CrossVersionObjectReference{Kind: "Deployment", Name: named(c), APIVersion: "apps/v1"}
		},
		func(o *storage.TokenRequest, c randfill.Continue) { *o = storage.TokenRequest{Audience: named(c)} },
		func(o *core.LoadBalancerIngress, c randfill.Continue) {
			if c.Bool() {
				*o = core.LoadBalancerIngress{IP: "10.0.0.9"}
			} else {
				*o = core.LoadBalancerIngress{Hostname: named(c)}
			}
		},
		func(o *core.EventSeries, c randfill.Continue) {
			*o = core.EventSeries{Count: 2, LastObservedTime: metav1.NewMicroTime(pastTime(c).Time)}
		},
		func(r *runtime.RawExtension, c randfill.Continue) { r.Raw = []byte(`{"a":1}`) },
		func(o *metav1.OwnerReference, c randfill.Continue) {
			group := []string{"v1", "apps/v1", "batch/v1", "example.com/v1beta1"}[c.Intn(4)]
			kind := []string{"Pod", "ReplicaSet", "Job", "Thing"}[c.Intn(4)]
			controller := c.Bool()
			*o = metav1.OwnerReference{APIVersion: group, Kind: kind, Name: "owner-" + words[1+c.Intn(2)], UID: "1", Controller: &controller}
		},
		func(m *metav1.ManagedFieldsEntry, c randfill.Continue) { *m = metav1.ManagedFieldsEntry{} },
	}
}

// place gives the object a unique name and namespace, and removes what a store cannot hold.
func place(object runtime.Object, name, namespace string, random *rand.Rand) error {
	accessor, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	accessor.SetName(name)
	accessor.SetNamespace(namespace)
	accessor.SetGenerateName("")
	accessor.SetResourceVersion("")
	accessor.SetSelfLink("")
	accessor.SetManagedFields(nil)
	accessor.SetFinalizers([]string{"example.com/hold"}) // one that is being deleted stays until the test has seen it
	accessor.SetCreationTimestamp(metav1.NewTime(now.Add(-ages[random.Intn(len(ages))])))
	accessor.SetUID("00000000-0000-0000-0000-000000000001")
	// The condition that the server's controller would set: there are no such priority levels.
	if flow, ok := object.(*flowcontrol.FlowSchema); ok {
		flow.Spec.PriorityLevelConfiguration.Name = "not-there"
		flow.Status.Conditions = []flowcontrol.FlowSchemaCondition{{Type: flowcontrol.FlowSchemaConditionDangling, Status: flowcontrol.ConditionTrue}}
	}
	if service, ok := object.(*core.Service); ok {
		for i := range service.Spec.ExternalIPs {
			service.Spec.ExternalIPs[i] = "10.1.2.3"
		}
	}
	return nil
}

func printed(generator *printers.HumanReadableGenerator, filler *randfill.Filler, random *rand.Rand, asked Asked, name string) (out Printed, err error) {
	gv, err := schema.ParseGroupVersion(asked.APIVersion)
	if err != nil {
		return out, err
	}
	out = Printed{APIVersion: asked.APIVersion, Kind: asked.Kind, Name: name}
	internal := schema.GroupVersion{Group: gv.Group, Version: runtime.APIVersionInternal}
	object, err := legacyscheme.Scheme.New(internal.WithKind(asked.Kind))
	if err != nil {
		return out, err
	}
	filler.Fill(object)
	if err := place(object, name, asked.Namespace, random); err != nil {
		return out, err
	}
	form := protobuf.NewSerializer(legacyscheme.Scheme, legacyscheme.Scheme)
	if out.Stored, err = runtime.Encode(legacyscheme.Codecs.EncoderForVersion(form, gv), object); err != nil {
		return out, err
	}
	read, err := runtime.Decode(legacyscheme.Codecs.DecoderToVersion(form, internal), out.Stored)
	if err != nil {
		return out, err
	}
	table, err := generator.GenerateTable(read, printers.GenerateOptions{Wide: true})
	if err != nil {
		out.Problem = err.Error()
		return out, nil
	}
	out.Columns = table.ColumnDefinitions
	out.Cells = table.Rows[0].Cells
	return out, nil
}

func run() error {
	var all []Asked
	if err := json.NewDecoder(os.Stdin).Decode(&all); err != nil {
		return err
	}
	generator := printers.NewTableGenerator().With(printersinternal.AddHandlers)
	answer := json.NewEncoder(os.Stdout)
	for _, asked := range all {
		funcs := fuzzer.MergeFuzzerFuncs(apitesting.FuzzerFuncs, plain)
		random := rand.New(rand.NewSource(asked.Seed))
		filler := fuzzer.FuzzerFor(funcs, rand.NewSource(asked.Seed), legacyscheme.Codecs).NilChance(0.3).NumElements(0, 3)
		for i := 0; i < asked.Count; i++ {
			row, err := printed(generator, filler, random, asked, fmt.Sprintf("made-%d", i))
			if err != nil {
				return fmt.Errorf("%s %s: %w", asked.APIVersion, asked.Kind, err)
			}
			if err := answer.Encode(row); err != nil {
				return err
			}
		}
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
