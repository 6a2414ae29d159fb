// Makes the sample project of kubebuilder's book (the tutorial of several versions) with kubebuilder's own generator:
// "sample KUBEBUILDER FOLDER". It is built within a copy of kubebuilder's module, whose generator is an internal package.
package main

import (
	"os"

	cronjob "sigs.k8s.io/kubebuilder/v4/hack/docs/internal/cronjob-tutorial"
	multiversion "sigs.k8s.io/kubebuilder/v4/hack/docs/internal/multiversion-tutorial"
)

type sample interface {
	GenerateSampleProject()
	UpdateTutorial()
}

func main() {
	program, folder := os.Args[1], os.Args[2]
	first, second := cronjob.NewSample(program, folder), multiversion.NewSample(program, folder)
	for _, each := range []sample{&first, &second} {
		each.GenerateSampleProject()
		each.UpdateTutorial()
	}
}
