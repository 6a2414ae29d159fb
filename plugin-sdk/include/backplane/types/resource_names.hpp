// Names of what can be counted: cpu, memory, requests.storage, example.com/gpu.
//
// Thread-safety: pure functions.
#pragma once

#include <string_view>

#include "backplane/core/visibility.hpp"
#include "backplane/types/names.hpp"

namespace backplane BACKPLANE_API {

// Why nothing can be counted under the name: it is neither a standard one nor one with a domain.
Problems resource_name_problems(std::string_view name);
// The same of what containers ask for.
Problems container_resource_name_problems(std::string_view name);
// The same of what a quota may limit.
Problems quota_resource_name_problems(std::string_view name);

// Why there cannot be so much of what the name stands for, by a canonical quantity: of many things there are no parts.
Problems counted_quantity_problems(std::string_view name, std::string_view quantity);

// Names without a domain that a container, a quota may name.
bool is_standard_container_resource(std::string_view name) noexcept;
bool is_standard_quota_resource(std::string_view name) noexcept;
// "hugepages-2Mi".
bool is_huge_page(std::string_view name) noexcept;
// In the kubernetes.io domain, or without one.
bool is_native_resource(std::string_view name) noexcept;

}  // namespace BACKPLANE_API
