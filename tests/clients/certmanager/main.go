// cert-manager's admission webhook: certmanager KUBECONFIG PORT CERTIFICATE KEY. The module's path lets it use the project's internal packages.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/cert-manager/cert-manager/internal/apis/config/shared"
	config "github.com/cert-manager/cert-manager/internal/apis/config/webhook"
	"github.com/cert-manager/cert-manager/internal/webhook"
	"k8s.io/klog/v2"
)

func main() {
	port, err := strconv.Atoi(os.Args[2])
	if err == nil {
		err = run(os.Args[1], port, shared.FilesystemServingConfig{CertFile: os.Args[3], KeyFile: os.Args[4]})
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func run(kubeconfig string, port int, serving shared.FilesystemServingConfig) error {
	server, err := webhook.NewCertManagerWebhookServer(klog.Background(), config.WebhookConfiguration{
		SecurePort:           int32(port),
		TLSConfig:            shared.TLSConfig{Filesystem: serving},
		KubeConfig:           kubeconfig,
		MetricsListenAddress: "0",
	})
	if err != nil {
		return err
	}
	return server.Run(context.Background())
}
