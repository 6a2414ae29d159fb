#include "conversion.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "backplane/core/json_access.hpp"

namespace backplane::resource {
namespace {

// Members of an exact request, which v1beta1 has in the request itself.
constexpr std::array<std::string_view, 7> kExact = {"deviceClassName", "selectors",   "allocationMode", "count",
                                                    "adminAccess",     "tolerations", "capacity"};

using Change = void (*)(Object& object);

void move_members(Object& from, Object& to, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (has(from, name)) to[name] = *find(from, name);
    erase_member(from, name);
  }
}

std::vector<std::string> exact_members() { return {kExact.begin(), kExact.end()}; }

void request_to_v1(Object& request) {
  const auto is_set_in_request = [&](std::string_view name) {
    const Value* value = find(request, name);
    return value != nullptr && (value->is_string() || value->is_int64() ? !is_unset(value) : !value->is_null());
  };
  Object exactly(request.storage());
  const bool any = std::any_of(kExact.begin(), kExact.end(), is_set_in_request);
  move_members(request, exactly, exact_members());
  if (any) request["exactly"] = std::move(exactly);
}

void request_to_v1beta1(Object& request) {
  Value* found = find(request, "exactly");
  if (found == nullptr) return;
  Value exactly = std::move(*found);
  erase_member(request, "exactly");
  if (exactly.is_object()) move_members(exactly.get_object(), request, exact_members());
}

void device_to_v1(Object& device) {
  Value* found = find(device, "basic");
  if (found == nullptr) return;
  Value basic = std::move(*found);
  erase_member(device, "basic");
  if (!basic.is_object()) return;
  for (auto& member : basic.get_object()) device[member.key()] = std::move(member.value());
}

void device_to_v1beta1(Object& device) {
  Object basic(device.storage());
  std::vector<std::string> names;
  for (const auto& member : device) {
    if (member.key() != "name") names.emplace_back(member.key());
  }
  move_members(device, basic, names);
  device["basic"] = std::move(basic);
}

// Removes members that are empty in v1beta1, because they are unset in v1.
void slice_spec_to_v1(Object& spec) {
  if (get_string(spec, "nodeName").empty()) erase_member(spec, "nodeName");
  if (!get_bool(spec, "allNodes").value_or(false)) erase_member(spec, "allNodes");
}

template <Change change>
Status convert_claim(Object& claim) {
  Object* spec = mutable_object(claim, "spec");
  Object* devices = spec != nullptr ? mutable_object(*spec, "devices") : nullptr;
  if (devices != nullptr) each_mutable(*devices, "requests", change);
  return {};
}

template <Change change>
Status convert_template(Object& object) {
  Object* spec = mutable_object(object, "spec");
  return spec != nullptr ? convert_claim<change>(*spec) : Status();
}

template <Change change, bool to_stored>
Status convert_slice(Object& slice) {
  Object* spec = mutable_object(slice, "spec");
  if (spec == nullptr) return {};
  if (to_stored) slice_spec_to_v1(*spec);
  each_mutable(*spec, "devices", change);
  return {};
}

Status convert_unchanged(Object&) { return {}; }

struct Row {
  std::string_view version, kind;
  Status (*to_v1)(Object&);
  Status (*from_v1)(Object&);
};
constexpr Row kRows[] = {
    {"v1beta2", "ResourceClaim", convert_unchanged, convert_unchanged},
    {"v1beta2", "ResourceClaimTemplate", convert_unchanged, convert_unchanged},
    {"v1beta2", "ResourceSlice", convert_unchanged, convert_unchanged},
    {"v1beta1", "ResourceClaim", convert_claim<request_to_v1>, convert_claim<request_to_v1beta1>},
    {"v1beta1", "ResourceClaimTemplate", convert_template<request_to_v1>, convert_template<request_to_v1beta1>},
    {"v1beta1", "ResourceSlice", convert_slice<device_to_v1, true>, convert_slice<device_to_v1beta1, false>},
};

}  // namespace

Status add_conversions(Scheme& scheme) {
  for (const Row& row : kRows) {
    const GroupVersionKind stored{"resource.k8s.io", "v1", std::string(row.kind)};
    const GroupVersionKind served{"resource.k8s.io", std::string(row.version), std::string(row.kind)};
    if (Status status = scheme.add_conversion(served, stored, row.to_v1); !status.ok()) return status;
    if (Status status = scheme.add_conversion(stored, served, row.from_v1); !status.ok()) return status;
  }
  return {};
}

}  // namespace backplane::resource
