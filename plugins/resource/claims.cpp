#include "claims.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/types/cel.hpp"
#include "backplane/types/names.hpp"
#include "names.hpp"

namespace backplane::resource {
namespace {

using namespace kit;

constexpr std::size_t kMaxItems = 32;
constexpr std::size_t kMaxAlternatives = 8;
constexpr std::size_t kMaxExpression = 10240;
constexpr std::string_view kNoRequest =
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

// Requests by name, each with the names of its alternatives.
using RequestNames = std::map<std::string, std::set<std::string, std::less<>>, std::less<>>;

RequestNames names_of(const Object& devices) {
  RequestNames out;
  each(devices, "requests", [&](const Object& request, std::size_t) {
    auto& alternatives = out[std::string(get_string(request, "name"))];
    alternatives.clear();
    each(request, "firstAvailable", [&](const Object& one, std::size_t) { alternatives.emplace(get_string(one, "name")); });
  });
  return out;
}

bool is_known(std::string_view name, const RequestNames& names) {
  const auto slash = name.find('/');
  const auto request = names.find(name.substr(0, slash));
  return request != names.end() && (slash == std::string_view::npos || request->second.contains(name.substr(slash + 1)));
}

void check_reference(std::string_view name, const RequestNames& names, const Path& path, FieldErrors& errors) {
  if (std::count(name.begin(), name.end(), '/') > 1) return errors.invalid(path, name, kNoRequest);
  const auto slash = name.find('/');
  const auto check_part = [&](std::string_view part) {
    for (const std::string& problem : is_dns1123_label(part)) errors.invalid(path, part, problem);
  };
  check_part(name.substr(0, slash));
  if (slash != std::string_view::npos) check_part(name.substr(slash + 1));
  if (!is_known(name, names)) errors.invalid(path, name, kNoRequest);
}

// Checks the names of requests to which a constraint or a configuration refers.
void check_references(const Object& holder, const RequestNames& names, const Path& path, FieldErrors& errors) {
  if (count_of(holder, "requests") > kMaxItems) return;
  each_text(holder, "requests",
            [&](std::string_view name, std::size_t i) { check_reference(name, names, path.at("requests", i), errors); });
  std::set<std::string_view> seen;
  each_text(holder, "requests", [&](std::string_view name, std::size_t i) {
    if (!seen.insert(name).second) errors.duplicate(path.at("requests", i), name);
  });
}

// Checks that no two items of a list have the same name.
void check_names_differ(const Object& holder, std::string_view list, std::string_view member, const Path& path, FieldErrors& errors) {
  std::set<std::string_view> seen;
  each(holder, list, [&](const Object& item, std::size_t i) {
    if (!seen.insert(get_string(item, member)).second) errors.duplicate(path.at(list, i), get_string(item, member));
  });
}

void check_request(const Object& request, const Path& path, FieldErrors& errors) {
  const bool alternatives = count_of(request, "firstAvailable") > 0, exact = has(request, "exactly");
  const std::string text = "exactly one of `exactly` or `firstAvailable` is required";
  if (!alternatives && !exact) return errors.required(path, text);
  if (alternatives && exact) return errors.invalid_raw(path, "null", text + ", but multiple fields are set");
  if (exact) return check_selectors(object_or_empty(request, "exactly"), path.at("exactly"), errors);
  if (count_of(request, "firstAvailable") > kMaxAlternatives) return;
  check_names_differ(request, "firstAvailable", "name", path, errors);
  each(request, "firstAvailable", [&](const Object& one, std::size_t i) { check_selectors(one, path.at("firstAvailable", i), errors); });
}

void check_constraint(const Object& constraint, const RequestNames& names, bool distinct, const Path& path, FieldErrors& errors) {
  check_references(constraint, names, path, errors);
  for (const std::string_view member : {"matchAttribute", "distinctAttribute"}) {
    if (has(constraint, member)) return check_whole_qualified_name(get_string(constraint, member), path.at(member), errors);
  }
  if (!distinct) return errors.required(path.at("matchAttribute"));
  errors.required(path, R"(exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set)");
}

// ---- status

// Returns a key for a device and its share id.
std::string device_key(const Object& device) {
  std::string out;
  for (const std::string_view member : {"driver", "pool", "device", "shareID"}) out.append(get_string(device, member)).push_back('\n');
  return out;
}

// Formats a device like upstream quotes it.
std::string device_text(const Object& device) {
  Object out;
  const std::array<std::pair<std::string_view, std::string_view>, 4> members = {
      {{"Driver", "driver"}, {"Pool", "pool"}, {"Device", "device"}, {"ShareID", "shareID"}}};
  for (const auto& [name, member] : members) out[name] = get_string(device, member);
  return to_json(out);
}

std::set<std::string> allocated(const Object& claim) {
  std::set<std::string> out;
  const Object& allocation = object_or_empty(object_or_empty(claim, "status"), "allocation");
  each(object_or_empty(allocation, "devices"), "results", [&](const Object& result, std::size_t) { out.insert(device_key(result)); });
  return out;
}

void check_device_status(const Object& device, const std::set<std::string>& there, const Path& path, FieldErrors& errors) {
  check_pool_name(get_string(device, "pool"), path.at("pool"), errors);
  if (has(device, "shareID")) check_uid(get_string(device, "shareID"), path.at("shareID"), errors);
  if (!there.contains(device_key(device))) errors.invalid_raw(path, device_text(device), "must be an allocated device in the claim");
}

void check_devices(const Object& claim, const Object& status, const Path& path, FieldErrors& errors) {
  const std::set<std::string> there = allocated(claim);
  std::set<std::string> seen;
  each(status, "devices", [&](const Object& device, std::size_t i) { check_device_status(device, there, path.at("devices", i), errors); });
  each(status, "devices", [&](const Object& device, std::size_t i) {
    if (!seen.insert(device_key(device)).second) errors.duplicate_raw(path.at("devices", i), device_text(device));
  });
}

void check_reserved(const Object& claim, const Object& status, const Object& old_status, const Path& path, FieldErrors& errors) {
  check_names_differ(status, "reservedFor", "uid", path, errors);
  if (count_of(status, "reservedFor") == 0) return;
  if (!has(status, "allocation")) return errors.forbidden(path.at("reservedFor"), "may not be specified when `allocated` is not set");
  if (meta_text(claim, "deletionTimestamp").empty()) return;
  const Array* before = get_array(old_status, "reservedFor");
  const auto is_new = [&](const Value& item) {
    return before == nullptr || std::find(before->begin(), before->end(), item) == before->end();
  };
  const Array& now = *get_array(status, "reservedFor");
  if (std::any_of(now.begin(), now.end(), is_new)) {
    errors.forbidden(path.at("reservedFor"), "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set");
  }
}

void check_allocation(const Object& allocation, const RequestNames& names, const Path& path, FieldErrors& errors) {
  const Object& devices = object_or_empty(allocation, "devices");
  const Path inside = path.at("devices");
  if (count_of(devices, "results") <= kMaxItems) {
    each(devices, "results", [&](const Object& result, std::size_t i) {
      const Path item = inside.at("results", i);
      check_reference(get_string(result, "request"), names, item.at("request"), errors);
      check_pool_name(get_string(result, "pool"), item.at("pool"), errors);
      check_binding_conditions(result, item, errors);
      if (has(result, "shareID")) check_uid(get_string(result, "shareID"), item.at("shareID"), errors);
    });
  }
  if (count_of(devices, "config") <= 2 * kMaxItems) {
    each(devices, "config", [&](const Object& config, std::size_t i) { check_references(config, names, inside.at("config", i), errors); });
  }
}

std::shared_ptr<const cel::Environment> selector_environment() {
  const auto sized = [](std::string_view type, std::int64_t most) { return cel::sized_type(cel::named_type(type), most); };
  const auto by_domain = [&](cel::TypeRef values) {
    const auto up_to = [](cel::TypeRef map) { return cel::sized_type(map, kMaxItems); };
    return up_to(cel::map_type(sized("string", 63), up_to(cel::map_type(sized("string", 32), std::move(values)))));
  };
  cel::EnvironmentOptions options;
  options.variables.push_back(
      {"device", cel::object_type("kubernetes.DRADevice", {{"driver", sized("string", 63)},
                                                           {"allowMultipleAllocations", sized("bool", 1)},
                                                           {"attributes", by_domain(sized("any", 64))},
                                                           {"capacity", by_domain(sized("kubernetes.Quantity", 0))}})});
  options.extras.bindings = true;
  return cel::Environment::make(std::move(options));
}

// Adds the error of a device selector's expression.
void check_expression(std::string_view expression, const std::string& path, FieldErrors& errors) {
  static const auto kEnvironment = selector_environment();
  const cel::Compiled compiled = kEnvironment->compile(expression);
  if (compiled.program == nullptr) return errors.invalid(path, expression, "compilation failed: " + compiled.problems);
  const std::string type = compiled.program->result_type();
  if (type != "bool" && type != "any") return errors.invalid(path, expression, "must evaluate to bool or the unknown type, not " + type);
  if (compiled.program->cost().max > cel::kCostPerCall) errors.forbidden(path, "too complex, exceeds cost limit");
}

}  // namespace

void check_selectors(const Object& holder, const Path& path, FieldErrors& errors) {
  each(holder, "selectors", [&](const Object& selector, std::size_t i) {
    const Object* selected = get_object(selector, "cel");
    if (selected == nullptr) return;
    const std::string_view expression = get_string(*selected, "expression");
    if (expression.size() > kMaxExpression) return;
    const Path at = path.at("selectors", i);
    const Path inside = at.at("cel");
    check_expression(expression, inside.at("expression"), errors);
  });
}

void check_claim_spec(const Object& spec, bool distinct, const Path& path, FieldErrors& errors) {
  const Object& devices = object_or_empty(spec, "devices");
  const RequestNames names = names_of(devices);
  const Path inside = path.at("devices");
  if (count_of(devices, "requests") <= kMaxItems) {
    each(devices, "requests", [&](const Object& request, std::size_t i) { check_request(request, inside.at("requests", i), errors); });
    check_names_differ(devices, "requests", "name", inside, errors);
  }
  if (count_of(devices, "constraints") <= kMaxItems) {
    each(devices, "constraints", [&](const Object& constraint, std::size_t i) {
      check_constraint(constraint, names, distinct, inside.at("constraints", i), errors);
    });
  }
  if (count_of(devices, "config") > kMaxItems) return;
  each(devices, "config", [&](const Object& config, std::size_t i) { check_references(config, names, inside.at("config", i), errors); });
}

void check_claim_status(const Object& claim, const Object& old, FieldErrors& errors) {
  const Object& status = object_or_empty(claim, "status");
  const Object& old_status = object_or_empty(old, "status");
  const Path path("status");
  check_devices(claim, status, path, errors);
  check_reserved(claim, status, old_status, path, errors);
  const Object* allocation = get_object(status, "allocation");
  if (allocation == nullptr || has(old_status, "allocation")) return;
  check_allocation(*allocation, names_of(object_or_empty(object_or_empty(claim, "spec"), "devices")), path.at("allocation"), errors);
}

void drop_deallocated(Object& claim, const Object& old) {
  Object* status = mutable_object(claim, "status");
  Value* devices = status != nullptr ? find(*status, "devices") : nullptr;
  if (devices == nullptr || !devices->is_array()) return;
  const std::set<std::string> before = allocated(old), now = allocated(claim);
  Array kept(devices->storage());
  for (const Value& device : devices->get_array()) {
    const std::string key = device.is_object() ? device_key(device.get_object()) : std::string();
    if (!before.contains(key) || now.contains(key)) kept.push_back(device);
  }
  if (kept.empty()) {
    erase_member(*status, "devices");
  } else {
    devices->get_array() = std::move(kept);
  }
}

void check_binding_conditions(const Object& holder, const Path& path, FieldErrors& errors) {
  constexpr std::string_view kBinding = "bindingConditions", kFailure = "bindingFailureConditions";
  const std::vector<std::string> binding = texts_of(holder, kBinding), failure = texts_of(holder, kFailure);
  const auto repeated = [](const std::vector<std::string>& all, std::size_t i) {
    return std::find(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i), all[i]) != all.begin() + static_cast<std::ptrdiff_t>(i);
  };
  for (std::size_t i = 0; i < binding.size(); ++i) {
    if (repeated(binding, i)) errors.duplicate(path.at(kBinding, i), binding[i]);
  }
  for (std::size_t i = 0; i < failure.size(); ++i) {
    if (repeated(failure, i)) errors.duplicate(path.at(kFailure, i), failure[i]);
    if (std::find(binding.begin(), binding.end(), failure[i]) == binding.end()) continue;
    errors.invalid(path.at(kFailure, i), failure[i], "bindingFailureConditions must not overlap with bindingConditions");
  }
  if (binding.empty() && !failure.empty()) {
    errors.invalid_raw(path.at(kBinding), "null", "bindingConditions are required to use bindingFailureConditions");
  }
  if (failure.empty() && !binding.empty()) {
    errors.invalid_raw(path.at(kFailure), "null", "bindingFailureConditions are required to use bindingConditions");
  }
}

}  // namespace backplane::resource
