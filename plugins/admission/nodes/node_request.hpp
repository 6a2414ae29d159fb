// A write of a node, and the data by which NodeRestriction decides on it.
//
// Thread-safety: any thread; one NodeRequest belongs to one request.
// Lifetime:      `attributes` and `data` outlive the request.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/request.hpp"
#include "common/services.hpp"

namespace backplane::admission::nodes {

// Cached objects of one resource; `singular` is the name in "not found" errors.
struct CachedResource {
  Lister lister;
  std::string_view group, singular;

  std::optional<Object> find(std::string_view ns, std::string_view name) const;
  // Returns 404 with the text of upstream's caches: `pod "a" not found`.
  Status missing(std::string_view name) const;
};

// The caches of claims, volumes and drivers: the drivers of a pod's volumes determine the tokens that a node may request.
struct VolumeData {
  CachedResource claims, volumes, drivers;
};

struct NodeData {
  explicit NodeData(Services& services);

  Host& host;
  CachedResource pods, nodes, accounts;
  std::optional<VolumeData> volumes;   // set if the gate ServiceAccountNodeAudienceRestriction is on
  bool insecure_certificate_requests;  // AllowInsecureKubeletCertificateSigningRequests
  bool pod_certificate_requests;       // PodCertificateRequest
};

struct NodeRequest {
  const AdmissionAttributes& attributes;
  std::string_view node;  // the name, not empty
  const NodeData& data;

  Status refuse(std::string_view why) const { return admission_forbidden(attributes, why); }
  // `unexpected operation "UPDATE"`
  Status unexpected_operation() const;
};

// The node's name if the user is a node: in the group system:nodes and named system:node:NAME. The name may be empty.
std::optional<std::string_view> node_of(const UserInfo& user) noexcept;

}  // namespace backplane::admission::nodes
