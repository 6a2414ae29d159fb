// Names of resources in requests, limits and quotas: cpu, memory, requests.storage, example.com/gpu (pkg/apis/core/helper and validation).
//
// Thread-safety: pure functions.
#pragma once

#include <string_view>

#include "backplane/core/visibility.hpp"
#include "backplane/types/names.hpp"

namespace backplane BACKPLANE_API {

// Returns the errors of a resource name; empty if it is valid. It must be a standard name or have a domain.
Problems resource_name_problems(std::string_view name);
// Like resource_name_problems(), for requests and limits of containers.
Problems container_resource_name_problems(std::string_view name);
// Like resource_name_problems(), for ResourceQuota.
Problems quota_resource_name_problems(std::string_view name);

// Returns the errors of `quantity`, a canonical quantity, as an amount of the resource `name`; empty if it is valid. Counts of objects
// (pods, services …) and extended resources (example.com/gpu) must be integers.
Problems counted_quantity_problems(std::string_view name, std::string_view quantity);

// True for the standard names of container resources, or of quota resources. They have no domain.
bool is_standard_container_resource(std::string_view name) noexcept;
bool is_standard_quota_resource(std::string_view name) noexcept;
// True for "hugepages-2Mi" and the like.
bool is_huge_page(std::string_view name) noexcept;
// True for names in the kubernetes.io domain and for names without a domain.
bool is_native_resource(std::string_view name) noexcept;

}  // namespace BACKPLANE_API
