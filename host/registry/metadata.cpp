#include "registry/metadata.hpp"

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "backplane/types/json_reading.hpp"

namespace backplane::registry {
namespace {

// The maximum length of a generated name, and of its base (apiserver/pkg/storage/names).
constexpr std::size_t kMaxGeneratedNameLength = 63;
constexpr std::size_t kRandomLength = 5;

constexpr std::string_view kDuplicateOwners =
    ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as "
    "early as 1.24; please fix your requests; duplicate UID(s) observed: ";
constexpr std::string_view kDuplicateOwnersAfterAdmission =
    ".metadata.ownerReferences contains duplicate entries after mutating admission happens; API server dedups owner references in 1.20+, "
    "and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ";

struct HashOfValue {
  std::size_t operator()(const Value* value) const noexcept { return std::hash<Value>{}(*value); }
};
struct SameValue {
  bool operator()(const Value* a, const Value* b) const noexcept { return *a == *b; }
};

}  // namespace

void erase_metadata_member(Object& object, std::string_view key) {
  Value* metadata = find(object, "metadata");
  if (metadata == nullptr || !metadata->is_object()) return;
  metadata->get_object().stable_erase(key);
}

void wipe_system_fields(Object& object) {
  Value* metadata = find(object, "metadata");
  if (metadata == nullptr || !metadata->is_object()) return;
  for (std::string_view key : {"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"}) {
    metadata->get_object().stable_erase(key);
  }
}

void fill_system_fields(Object& object) {
  ObjectMeta meta(object);
  meta.set("uid", new_uid());
  meta.set("creationTimestamp", now_rfc3339());
}

Status ensure_namespace(Object& object, std::string_view request_namespace) {
  const std::string_view own = meta_namespace(object);
  if (own == request_namespace) return {};
  if (own.empty() || request_namespace.empty()) {
    ObjectMeta(object).set("namespace", request_namespace);
    return {};
  }
  return bad_request("the namespace of the provided object does not match the namespace sent on the request");
}

std::string generate_name(std::string_view base) {
  return std::string(base.substr(0, kMaxGeneratedNameLength - kRandomLength)) + random_suffix();
}

Result<std::uint64_t> parse_resource_version(std::string_view text) {
  if (text.empty()) return std::uint64_t{0};
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  const bool digits = std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return Status(500, Reason::kNone, "strconv.ParseUint: parsing " + quoted(text) + (digits ? ": value out of range" : ": invalid syntax"));
}

void dedupe_owner_references(RequestContext& context, Object& object, bool after_admission) {
  Value* metadata = find(object, "metadata");
  if (metadata == nullptr || !metadata->is_object()) return;
  Value* references = find(metadata->get_object(), "ownerReferences");
  if (references == nullptr || !references->is_array() || references->get_array().size() < 2) return;

  Array& all = references->get_array();
  std::string duplicates;
  Array kept(all.storage());
  kept.reserve(all.size());  // `seen` has pointers to the elements, so the vector must not reallocate
  std::unordered_set<const Value*, HashOfValue, SameValue> seen;
  for (Value& reference : all) {
    if (!seen.contains(&reference)) {
      kept.push_back(std::move(reference));
      seen.insert(&kept.back());
      continue;
    }
    if (!duplicates.empty()) duplicates += ", ";
    if (reference.is_object()) duplicates += get_string(reference.get_object(), "uid");
  }
  all = std::move(kept);
  if (duplicates.empty()) return;
  context.warn(std::string(after_admission ? kDuplicateOwnersAfterAdmission : kDuplicateOwners) + duplicates);
}

Status canonical_form(const Schema* schema, Object& object) {
  if (nests_deeper(object, kMaxJsonDepth))
    return bad_request("the object is nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
  if (schema == nullptr) return {};
  Value whole(std::move(object));
  Status normalized = schema->normalize(whole, nullptr);
  if (whole.is_object()) object = std::move(whole.get_object());
  if (!normalized.ok()) return internal_error(normalized.message());
  return {};
}

}  // namespace backplane::registry
