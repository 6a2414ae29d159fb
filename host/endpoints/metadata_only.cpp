#include "endpoints/metadata_only.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "backplane/json.hpp"
#include "endpoints/json_scan.hpp"

namespace backplane::endpoints {
namespace {

constexpr std::array<std::string_view, 14> kObjectMeta = {
    "name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
    "deletionGracePeriodSeconds", "labels", "annotations", "ownerReferences", "finalizers"};
constexpr std::array<std::string_view, 6> kOwnerReference = {"apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"};

// Members of `object` in the order of `order`; others are left out.
void append_in_order(std::string& out, std::string_view object, std::span<const std::string_view> order);

// A list of owner references, each put in order.
void append_owners(std::string& out, std::string_view list) {
  json::error_code error;
  const Value owners = json::parse(json::string_view(list.data(), list.size()), error);
  out.push_back('[');
  if (!error && owners.is_array()) {
    for (const Value& owner : owners.get_array()) {
      if (out.back() != '[') out.push_back(',');
      append_in_order(out, to_json(owner), kOwnerReference);
    }
  }
  out.push_back(']');
}

void append_in_order(std::string& out, std::string_view object, std::span<const std::string_view> order) {
  out.push_back('{');
  for (const std::string_view key : order) {
    const std::string_view value = raw_member(object, key);
    if (value.empty()) continue;
    if (out.back() != '{') out.push_back(',');
    out.append("\"").append(key).append("\":");
    if (key == "ownerReferences") {
      append_owners(out, value);
    } else {
      out.append(value);
    }
  }
  out.push_back('}');
}

}  // namespace

void append_metadata_only(std::string& out, const ObjectEntry& entry, std::string_view version, bool sorted_keys) {
  out.append(R"({"kind":"PartialObjectMetadata","apiVersion":")").append(version).append(R"(","metadata":)");
  const std::string_view metadata = raw_member(entry.json.view(), "metadata");
  if (metadata.empty()) {
    out.append("{}");
  } else if (sorted_keys) {
    append_in_order(out, metadata, kObjectMeta);
  } else {
    out.append(metadata);
  }
  out.push_back('}');
}

}  // namespace backplane::endpoints
