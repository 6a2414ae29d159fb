#include "slices.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "backplane/core/json_access.hpp"
#include "backplane/kit/path.hpp"
#include "backplane/types/names.hpp"
#include "backplane/types/semantic_version.hpp"
#include "claims.hpp"
#include "names.hpp"
#include "policies.hpp"

namespace backplane::resource {
namespace {

using namespace kit;

constexpr std::size_t kMaxDevices = 128;
constexpr std::size_t kMaxAdvancedDevices = 64;
constexpr std::size_t kMaxEntries = 32;
constexpr std::size_t kMaxAttributeValues = 48;
constexpr std::size_t kMaxCounters = 32;
constexpr std::array<std::string_view, 4> kScalars = {"bool", "int", "string", "version"};
constexpr std::array<std::string_view, 4> kLists = {"bools", "ints", "strings", "versions"};

bool is_true(const Object& object, std::string_view key) { return get_bool(object, key).value_or(false); }

// ---- node selection

// Collects the names of the alternatives that are set, in back quotes. An alternative that is set but empty is an error.
class Choice {
 public:
  Choice(const Object& object, const Path& path, FieldErrors& errors) : object_(object), path_(path), errors_(errors) {}

  void name(std::string_view when_empty) {
    if (!has(object_, "nodeName")) return;
    const std::string_view name = get_string(object_, "nodeName");
    if (name.empty()) return errors_.invalid(path_.at("nodeName"), name, when_empty);
    set_.emplace_back("`nodeName`");
    for (const std::string& problem : is_dns1123_subdomain(name)) errors_.invalid(path_.at("nodeName"), name, problem);
  }
  void selector() {
    if (get_object(object_, "nodeSelector") != nullptr) set_.emplace_back("`nodeSelector`");
  }
  void flag(std::string_view name) {
    if (!has(object_, name)) return;
    if (is_true(object_, name)) {
      set_.push_back("`" + std::string(name) + "`");
    } else {
      errors_.invalid_raw(path_.at(name), "false", "must be either unset or set to true");
    }
  }
  void one(const std::string& text, std::string_view more) {
    if (set_.empty()) return errors_.required(path_, text);
    if (set_.size() == 1) return;
    std::string all;
    for (const std::string& each : set_) all += (all.empty() ? "" : ", ") + each;
    errors_.invalid(path_, "{" + all + "}", text + std::string(more));
  }

 private:
  const Object& object_;
  const Path& path_;
  FieldErrors& errors_;
  std::vector<std::string> set_;
};

void check_slice_nodes(const Object& spec, const Path& path, FieldErrors& errors) {
  Choice choice(spec, path, errors);
  choice.name("must be either unset or set to a non-empty string");
  choice.selector();
  if (const Object* selector = get_object(spec, "nodeSelector"); selector != nullptr && count_of(*selector, "nodeSelectorTerms") != 1) {
    const Value* terms = find(*selector, "nodeSelectorTerms");
    const Path at = path.at("nodeSelector");
    errors.invalid_raw(at.at("nodeSelectorTerms"), terms != nullptr ? to_json(*terms) : "null", "must have exactly one node selector term");
  }
  choice.flag("allNodes");
  choice.flag("perDeviceNodeSelection");
  choice.one("exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required",
             ", but multiple fields are set");
}

void check_device_nodes(const Object& device, bool by_device, const Path& path, FieldErrors& errors) {
  if (by_device) {
    Choice choice(device, path, errors);
    choice.name("must not be empty");
    choice.selector();
    choice.flag("allNodes");
    choice.one(
        "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the "
        "ResourceSlice spec",
        "");
  } else if (has(device, "nodeName") || has(device, "nodeSelector") || has(device, "allNodes")) {
    errors.invalid_raw(
        path, "null",
        "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec");
  }
}

// ---- attributes and capacity

std::size_t values_of(const Object& attribute) {
  std::size_t listed = 0;
  for (const std::string_view list : kLists) listed += count_of(attribute, list);
  return listed == 0 ? 1 : listed;
}

void check_version(std::string_view version, const Path& path, FieldErrors& errors) {
  if (!SemanticVersion::parse(version)) errors.invalid(path, version, "must be a string compatible with semver.org spec 2.0.0");
}

void check_attribute(const Object& attribute, const Schema& type, const Path& path, FieldErrors& errors) {
  const auto set = [&](std::string_view name) { return has(attribute, name); };
  if (set("version")) check_version(get_string(attribute, "version"), path.at("version"), errors);
  each_text(attribute, "versions",
            [&](std::string_view version, std::size_t i) { check_version(version, path.at("versions", i), errors); });
  const auto members = std::count_if(kScalars.begin(), kScalars.end(), set) + std::count_if(kLists.begin(), kLists.end(), set);
  if (members == 1) return;
  errors.invalid_raw(path, members == 0 ? "\"\"" : to_json(type.go_struct(attribute)), "exactly one value must be specified");
}

void check_entries(const Object& device, const Schema& attribute_type, const Path& path, FieldErrors& errors) {
  const Object& attributes = object_or_empty(device, "attributes");
  const Object& capacity = object_or_empty(device, "capacity");
  std::size_t values = 0;
  for (const auto& entry : attributes) values += entry.value().is_object() ? values_of(entry.value().get_object()) : 0;
  const std::size_t entries = attributes.size() + capacity.size();
  const auto limit = [&](std::size_t count, std::size_t most, const std::string& what) {
    if (count <= most) return;
    errors.invalid(path, static_cast<long long>(count), "the total number of " + what + " must not exceed " + std::to_string(most));
  };
  limit(entries, kMaxEntries, "attributes and capacities");
  limit(values, kMaxAttributeValues, "attribute values");
  const Path at_attributes = path.at("attributes"), at_capacity = path.at("capacity");
  for (const auto& entry : attributes) {
    check_qualified_name(entry.key(), at_attributes, errors);
    if (entry.value().is_object()) check_attribute(entry.value().get_object(), attribute_type, at_attributes.at_key(entry.key()), errors);
  }
  const bool shared = is_true(device, "allowMultipleAllocations");
  for (const auto& entry : capacity) {
    check_qualified_name(entry.key(), at_capacity, errors);
    if (entry.value().is_object()) check_capacity(entry.value().get_object(), shared, at_capacity.at_key(entry.key()), errors);
  }
}

void check_mappings(const Object& device, const Path& path, FieldErrors& errors) {
  const Object& capacity = object_or_empty(device, "capacity");
  const Path mappings = path.at("nodeAllocatableResourceMappings");
  for (const auto& entry : object_or_empty(device, "nodeAllocatableResourceMappings")) {
    const Path at = mappings.at_key(entry.key());
    const std::string_view name = entry.key();
    const bool native = name.find('/') == std::string_view::npos || name.find("kubernetes.io/") != std::string_view::npos;
    if (!native) errors.invalid(at, name, "must be a node allocatable resource name");
    if (!entry.value().is_object()) continue;
    const Object& mapping = entry.value().get_object();
    const std::string_view factor = get_string(mapping, "allocationMultiplier"), key = get_string(mapping, "capacityKey");
    if (has(mapping, "allocationMultiplier") && compare_quantities(factor, "0") <= 0) {
      errors.invalid(at.at("allocationMultiplier"), factor, "must be positive");
    }
    if (!has(mapping, "capacityKey")) continue;
    if (key.empty()) {
      errors.invalid(at.at("capacityKey"), "", "capacityKey must not be an empty string");
    } else if (!capacity.contains(key)) {
      errors.not_found(at.at("capacityKey"), key);
    }
  }
}

// ---- counters

void check_counters(const Object& holder, const Path& path, FieldErrors& errors) {
  const Object& counters = object_or_empty(holder, "counters");
  const Path at = path.at("counters");
  if (counters.size() > kMaxCounters) return errors.too_many(at, static_cast<long long>(counters.size()), kMaxCounters);
  for (const auto& entry : counters) {
    for (const std::string& problem : is_dns1123_label(entry.key())) errors.invalid(at, std::string_view(entry.key()), problem);
  }
}

// Checks a list of items that have counters: the counters of each item, and that the names of the items are unique.
void check_counter_list(const Object& holder, std::string_view list, std::string_view member, std::size_t most, const Path& path,
                        FieldErrors& errors) {
  if (count_of(holder, list) > most) return;
  std::set<std::string_view> seen;
  each(holder, list, [&](const Object& item, std::size_t i) { check_counters(item, path.at(list, i), errors); });
  each(holder, list, [&](const Object& item, std::size_t i) {
    if (!seen.insert(get_string(item, member)).second) errors.duplicate(path.at(list, i), get_string(item, member));
  });
}

// ---- devices

bool is_advanced(const Object& device) {
  if (count_of(device, "taints") > 0 || count_of(device, "consumesCounters") > 0) return true;
  const Object& attributes = object_or_empty(device, "attributes");
  return std::any_of(attributes.begin(), attributes.end(), [](const auto& entry) {
    const Object* attribute = entry.value().if_object();
    return attribute != nullptr && std::any_of(kLists.begin(), kLists.end(), [&](std::string_view list) { return has(*attribute, list); });
  });
}

void check_devices(const Object& spec, const Schema& attribute_type, const Path& path, FieldErrors& errors) {
  bool advanced = false;
  each(spec, "devices", [&](const Object& device, std::size_t) { advanced = advanced || is_advanced(device); });
  const std::size_t count = count_of(spec, "devices"), most = advanced ? kMaxAdvancedDevices : kMaxDevices;
  if (count > most) return errors.too_many(path.at("devices"), static_cast<long long>(count), static_cast<long long>(most));
  const bool by_device = is_true(spec, "perDeviceNodeSelection");
  std::set<std::string_view> seen;
  each(spec, "devices", [&](const Object& device, std::size_t i) {
    const Path at = path.at("devices", i);
    check_entries(device, attribute_type, at, errors);
    check_counter_list(device, "consumesCounters", "counterSet", 2, at, errors);
    check_device_nodes(device, by_device, at, errors);
    check_binding_conditions(device, at, errors);
    check_mappings(device, at, errors);
    if (!seen.insert(get_string(device, "name")).second) errors.duplicate(at, get_string(device, "name"));
  });
}

}  // namespace

void check_slice(const Object& slice, const Schema& attribute_type, FieldErrors& errors) {
  const Object& spec = object_or_empty(slice, "spec");
  const Path path("spec");
  const Path pool = path.at("pool");
  check_pool_name(get_string(object_or_empty(spec, "pool"), "name"), pool.at("name"), errors);
  check_slice_nodes(spec, path, errors);
  if (count_of(spec, "sharedCounters") > 0 && count_of(spec, "devices") > 0) {
    errors.invalid(path, "", "only one of `sharedCounters` or `devices` is allowed");
  }
  check_devices(spec, attribute_type, path, errors);
  check_counter_list(spec, "sharedCounters", "name", 8, path, errors);
}

}  // namespace backplane::resource
