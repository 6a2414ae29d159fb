// The garbage collector.
//
// Thread-safety: the plugin's executor.
// Lifetime:      a controller runs until the term ends (frame/term.hpp).
// Errors:        none.
#pragma once

#include "frame/context.hpp"

namespace backplane::controllers {

// Deletes objects whose owners are gone, and handles the finalizers `orphan` and `foregroundDeletion`.
// Source: k8s.io/kubernetes/pkg/controller/garbagecollector.
Status start_garbage_collector(const Context& context);

}  // namespace backplane::controllers
