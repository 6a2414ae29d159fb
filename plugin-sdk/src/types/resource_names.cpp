#include "backplane/types/resource_names.hpp"

#include <algorithm>

#include "text/quantity.hpp"

namespace backplane BACKPLANE_API {
namespace {

// A resource name without a domain, and where it is allowed.
struct StandardResource {
  std::string_view name;
  bool quota = true;
  bool container = false;
  bool whole = false;  // amounts must be integers
};
constexpr StandardResource kStandardResources[] = {
    {"cpu", true, true},
    {"memory", true, true},
    {"ephemeral-storage", true, true},
    {"storage", false},
    {"requests.cpu"},
    {"requests.memory"},
    {"requests.storage"},
    {"requests.ephemeral-storage"},
    {"limits.cpu"},
    {"limits.memory"},
    {"limits.ephemeral-storage"},
    {"pods", true, false, true},
    {"resourcequotas", true, false, true},
    {"services", true, false, true},
    {"services.nodeports", true, false, true},
    {"services.loadbalancers", true, false, true},
    {"replicationcontrollers", true, false, true},
    {"secrets", true, false, true},
    {"configmaps", true, false, true},
    {"persistentvolumeclaims", true, false, true},
};

const StandardResource* standard_resource(std::string_view name) noexcept {
  const auto* found = std::find_if(std::begin(kStandardResources), std::end(kStandardResources),
                                   [&](const StandardResource& row) { return row.name == name; });
  return found == std::end(kStandardResources) ? nullptr : found;
}

// True for a name with a domain outside kubernetes.io that a quota can limit.
bool is_extended_resource(std::string_view name) {
  return !name.starts_with("requests.") && is_qualified_name("requests." + std::string(name)).empty();
}

bool is_quota_huge_page(std::string_view name) noexcept { return is_huge_page(name) || name.starts_with("requests.hugepages-"); }

}  // namespace

bool is_huge_page(std::string_view name) noexcept { return name.starts_with("hugepages-"); }
bool is_native_resource(std::string_view name) noexcept {
  return name.find('/') == std::string_view::npos || name.find("kubernetes.io/") != std::string_view::npos;
}
bool is_standard_container_resource(std::string_view name) noexcept {
  const StandardResource* row = standard_resource(name);
  return is_huge_page(name) || (row != nullptr && row->container);
}
bool is_standard_quota_resource(std::string_view name) noexcept {
  const StandardResource* row = standard_resource(name);
  return is_quota_huge_page(name) || (row != nullptr && row->quota);
}

Problems counted_quantity_problems(std::string_view name, std::string_view quantity) {
  if (is_whole_quantity(quantity)) return {};
  const StandardResource* row = standard_resource(name);
  const bool own = !is_native_resource(name) && !name.starts_with("requests.") && resource_name_problems(name).empty();
  return own || (row != nullptr && row->whole) ? Problems{"must be an integer"} : Problems();
}

Problems resource_name_problems(std::string_view name) {
  Problems out = is_qualified_name(name);
  if (!out.empty() || name.find('/') != std::string_view::npos) return out;
  if (standard_resource(name) == nullptr && !is_quota_huge_page(name)) {
    out.emplace_back("must be a standard resource type or fully qualified");
  }
  return out;
}

Problems container_resource_name_problems(std::string_view name) {
  Problems out = resource_name_problems(name);
  if (name.find('/') == std::string_view::npos) {
    if (!is_standard_container_resource(name)) out.emplace_back("must be a standard resource for containers");
  } else if (!is_native_resource(name) && !is_extended_resource(name)) {
    out.emplace_back("doesn't follow extended resource name standard");
  }
  return out;
}

Problems quota_resource_name_problems(std::string_view name) {
  Problems out = resource_name_problems(name);
  if (name.find('/') == std::string_view::npos && !is_standard_quota_resource(name)) {
    out.emplace_back("must be a standard resource for quota");
  }
  return out;
}

}  // namespace BACKPLANE_API
