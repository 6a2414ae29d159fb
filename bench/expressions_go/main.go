// The rules of bench/expressions.json run by cel-go in Kubernetes's environment, on the object's unstructured tree as kube-apiserver runs
// them: go run -mod=mod . ../expressions.json
package main

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// CPU time of the process, including garbage collection: other processes do not count.
func spent() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func main() {
	var document struct {
		Schema v1.JSONSchemaProps `json:"schema"`
		Object map[string]any     `json:"object"`
		Rules  []string           `json:"rules"`
	}
	if err := utiljson.Unmarshal(must(os.ReadFile(os.Args[1])), &document); err != nil {
		panic(err)
	}
	var internal apiextensions.JSONSchemaProps
	if err := v1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&document.Schema, &internal, nil); err != nil {
		panic(err)
	}
	structural := must(schema.NewStructural(&internal))
	declared := model.SchemaDeclType(structural, false).MaybeAssignTypeName("selfType")
	base := environment.MustBaseEnvSet(version.MajorMinor(1, 36))
	extended := must(base.Extend(environment.VersionedOptions{
		IntroducedVersion: version.MajorMinor(1, 0),
		EnvOptions:        []cel.EnvOption{cel.Variable("self", declared.CelType())},
		DeclTypes:         []*apiservercel.DeclType{declared},
	}))
	env := must(extended.Env(environment.NewExpressions))
	self := common.UnstructuredToVal(document.Object, &model.Structural{Structural: structural})
	fmt.Println("  ns a run   cost  rule")
	for _, rule := range document.Rules {
		ast, issues := env.Compile(rule)
		if issues.Err() != nil {
			panic(issues.Err())
		}
		program := must(env.Program(ast))
		var cost uint64
		calls, begin := 0, spent()
		for spent()-begin < time.Second/2 {
			for i := 0; i < 256; i++ {
				value, details, err := program.Eval(map[string]any{"self": self})
				if err != nil || value != types.True {
					panic(fmt.Sprint(rule, value, err))
				}
				cost = *details.ActualCost()
				calls++
			}
		}
		fmt.Printf("%10.0f %6d  %s\n", float64(spent()-begin)/float64(calls), cost, rule)
	}
}
