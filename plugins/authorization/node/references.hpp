// The references of objects for the NodeGraph, read from their JSON trees.
//
// Thread-safety: pure functions.
// Source:        kubernetes plugin/pkg/auth/authorizer/node/graph.go (AddPod, AddPV), pkg/api/v1/pod/util.go,
//                pkg/api/v1/persistentvolume/util.go.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "node/graph.hpp"

namespace backplane::authorization {

// The objects that the kubelet of a pod's node may read because of the pod, each once. Empty for a mirror pod.
std::vector<VertexName> pod_references(const Object& pod);

struct VolumeReferences {
  VertexName claim;
  std::vector<VertexName> secrets;
  bool operator==(const VolumeReferences&) const = default;
};
// The references of a persistent volume; nullopt if it is not bound to a claim.
std::optional<VolumeReferences> volume_references(const Object& volume);

}  // namespace backplane::authorization
