package main

import (
	"sync"

	"k8s.io/client-go/features"
)

// gates are the client's feature gates, with some of them set by the check that runs.
type gates struct {
	base features.Gates
	mu   sync.Mutex
	set  map[features.Feature]bool
}

var overridden gates

func (g *gates) Enabled(key features.Feature) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if value, found := g.set[key]; found {
		return value
	}
	return g.base.Enabled(key)
}

func replaceGates() {
	overridden.base = features.FeatureGates()
	overridden.set = map[features.Feature]bool{}
	features.ReplaceFeatureGates(&overridden)
}

// withGates sets gates while `run` runs.
func withGates(set map[features.Feature]bool, run func()) {
	change := func(value map[features.Feature]bool) {
		overridden.mu.Lock()
		defer overridden.mu.Unlock()
		overridden.set = value
	}
	change(set)
	defer change(map[features.Feature]bool{})
	run()
}

func withCBOR(run func()) {
	withGates(map[features.Feature]bool{features.ClientsAllowCBOR: true, features.ClientsPreferCBOR: true}, run)
}

func withoutWatchList(run func()) {
	withGates(map[features.Feature]bool{features.WatchListClient: false}, run)
}
