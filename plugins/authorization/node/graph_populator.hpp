// Updates the NodeGraph by the events of pods, volumes, volume attachments, resource slices and certificate requests.
//
// Thread-safety: one thread, the plugin's executor.
// Lifetime:      shared with the informers' handlers.
// Source:        kubernetes plugin/pkg/auth/authorizer/node/graph_populator.go.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "backplane/net/informer.hpp"
#include "node/graph.hpp"

namespace backplane::authorization {

// A resource whose objects contribute to the graph.
struct GraphResource {
  GroupVersionResource resource;
  // Paths of the members that contribute. An update that changes none of them is ignored.
  std::span<const std::string_view> members;
  // Adds or replaces the contribution of an object. Returns false if nothing has changed.
  bool (*put)(NodeGraph& graph, const ObjectEntry& entry);
  void (*remove)(NodeGraph& graph, const ObjectEntry& entry);
  const char* put_name;  // label values of the metric
  const char* remove_name;
};
const std::vector<GraphResource>& graph_resources();

// A handler that applies the events of one resource. An object that cannot be read contributes nothing.
ResourceEventHandler graph_handler(std::shared_ptr<NodeGraph> graph, const GraphResource& resource);

}  // namespace backplane::authorization
