// The sample API server of Kubernetes (flunders), with an etcd in the same process: what an extension server is, in one program.
// Flags are the sample server's; --store names the folder of its etcd.
package main

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/component-base/cli"
	"k8s.io/sample-apiserver/pkg/cmd/server"
)

func startStore(dir string) (string, error) {
	config := embed.NewConfig()
	config.Dir = dir
	config.LogLevel = "error"
	config.UnsafeNoFsync = true
	config.EnableGRPCGateway = false
	free := []url.URL{{Scheme: "http", Host: "127.0.0.1:0"}}
	config.ListenClientUrls, config.AdvertiseClientUrls = free, free
	config.ListenPeerUrls, config.AdvertisePeerUrls = free, free
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	store, err := embed.StartEtcd(config)
	if err != nil {
		return "", err
	}
	select {
	case <-store.Server.ReadyNotify():
		return "http://" + store.Clients[0].Addr().String(), nil
	case <-time.After(time.Minute):
		return "", fmt.Errorf("etcd in %s does not become ready", dir)
	}
}

func main() {
	args := []string{os.Args[0]}
	dir := ""
	for _, arg := range os.Args[1:] {
		if rest, found := strings.CutPrefix(arg, "--store="); found {
			dir = rest
			continue
		}
		args = append(args, arg)
	}
	address, err := startStore(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Args = append(args, "--etcd-servers="+address)
	ctx := genericapiserver.SetupSignalContext()
	options := server.NewWardleServerOptions(os.Stdout, os.Stderr)
	os.Exit(cli.Run(server.NewCommandStartWardleServer(ctx, options, false)))
}
