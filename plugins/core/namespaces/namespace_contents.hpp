// Finds the resources of which a namespace can hold objects. Reads aggregated discovery, which needs only two calls for all group versions.
//
// Thread-safety: any executor.
// Errors:        errors of discovery are stored in the report; the resources that could be discovered are returned.
#pragma once

#include <string>
#include <vector>

#include "backplane/net/client.hpp"
#include "namespaces/deletion_conditions.hpp"

namespace backplane::core {

// A namespaced resource that can be deleted, in the first version of its group that has it.
struct NamespacedResource {
  std::string group, version, name;
  bool lists = false;        // verb list
  bool collections = false;  // verb deletecollection

  bool is_pods() const { return group.empty() && name == "pods"; }
  // "/apis/GROUP/VERSION/namespaces/NS/NAME"
  std::string path(const std::string& ns) const;
};

Task<std::vector<NamespacedResource>> discover_namespaced(ApiClient& api, DeletionReport& report);

// A call with a time limit of a minute.
HttpCall deletion_call(std::string method, std::string target);

}  // namespace backplane::core
