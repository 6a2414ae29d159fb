// Starts and stops environments of controller-runtime's envtest, one after another, and prints the milliseconds of Start() and Stop() of
// each: envtest_start ROUNDS CRD-FOLDER (empty: no custom types).
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func milliseconds(since time.Time) float64 { return float64(time.Since(since).Microseconds()) / 1000 }

func main() {
	ctrl.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	rounds, err := strconv.Atoi(os.Args[1])
	fail(err)
	for i := 0; i < rounds; i++ {
		environment := &envtest.Environment{}
		if os.Args[2] != "" {
			environment.CRDDirectoryPaths = []string{os.Args[2]}
			environment.ErrorIfCRDPathMissing = true
		}
		begin := time.Now()
		config, err := environment.Start()
		fail(err)
		started := milliseconds(begin)
		client, err := kubernetes.NewForConfig(config)
		fail(err)
		_, err = client.CoreV1().Namespaces().Get(context.Background(), "default", metav1.GetOptions{})
		fail(err)
		used := milliseconds(begin)
		begin = time.Now()
		fail(environment.Stop())
		fmt.Printf("%.1f %.1f %.1f\n", started, used, milliseconds(begin))
	}
}
