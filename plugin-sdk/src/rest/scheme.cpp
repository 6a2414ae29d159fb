// Stores types, conversions, field labels and version priorities.
#include "backplane/rest/scheme.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace backplane BACKPLANE_API {
namespace {

struct KnownType {
  const Schema* schema = nullptr;
  std::shared_ptr<const SchemaSet> keep;
  std::string registrant;
  std::vector<Scheme::FieldLabel> field_labels;
};

std::string print(const GroupVersionKind& gvk) { return gvk.group_version().to_string() + ", Kind=" + gvk.kind; }

// Returns "v1.Pod", as messages about conversions name Go types.
std::string type_name(const GroupVersionKind& gvk) { return gvk.version + "." + gvk.kind; }

void set_type(const GroupVersionKind& gvk, Object& object) {
  object["kind"] = gvk.kind;
  object["apiVersion"] = gvk.group_version().to_string();
}

Status registered_twice(const GroupVersionKind& gvk, const std::string& first) {
  return Status(Reason::kAlreadyExists, "kind " + print(gvk) + " is already registered by " + first);
}

}  // namespace

struct Scheme::State {
  std::map<GroupVersionKind, KnownType> types;
  std::map<std::pair<GroupVersionKind, GroupVersionKind>, Conversion> conversions;
  std::map<std::string, std::vector<std::string>, std::less<>> priorities;

  // Returns a version to which `from` can be converted, and from which `to` can be reached; null if there is none.
  const GroupVersionKind* between(const GroupVersionKind& from, const GroupVersionKind& to) const noexcept {
    for (auto each = conversions.lower_bound({from, {}}); each != conversions.end() && each->first.first == from; ++each) {
      if (conversions.contains({each->first.second, to})) return &each->first.second;
    }
    return nullptr;
  }
};

Scheme::Scheme() : state_(std::make_unique<State>()) {}
Scheme::~Scheme() = default;
Scheme::Scheme(Scheme&&) noexcept = default;
Scheme& Scheme::operator=(Scheme&&) noexcept = default;

Status Scheme::add_known_types(const GroupVersion& gv, std::shared_ptr<const SchemaSet> schemas, std::string_view registrant) {
  for (const GroupVersionKind& gvk : schemas->kinds()) {
    if (gvk.group_version() != gv) continue;
    if (Status status = add_known_type(gvk, schemas->find(gvk), schemas, registrant); !status.ok()) return status;
  }
  return {};
}

Status Scheme::add_known_type(const GroupVersionKind& gvk, const Schema* schema, std::shared_ptr<const SchemaSet> keep,
                              std::string_view registrant) {
  const auto [at, added] = state_->types.try_emplace(gvk);
  if (!added && !at->second.registrant.empty()) return registered_twice(gvk, at->second.registrant);
  at->second.schema = schema;
  at->second.keep = std::move(keep);
  at->second.registrant = registrant;
  return {};
}

Status Scheme::add_conversion(const GroupVersionKind& from, const GroupVersionKind& to, Conversion function) {
  if (!state_->conversions.try_emplace({from, to}, std::move(function)).second) {
    return Status(Reason::kAlreadyExists, "conversion of " + print(from) + " to " + print(to) + " is already registered");
  }
  return {};
}

Status Scheme::add_field_labels(const GroupVersionKind& gvk, std::vector<FieldLabel> labels) {
  auto& have = state_->types[gvk].field_labels;
  have.insert(have.end(), std::make_move_iterator(labels.begin()), std::make_move_iterator(labels.end()));
  return {};
}

Status Scheme::set_version_priority(std::string group, std::vector<std::string> versions) {
  state_->priorities[std::move(group)] = std::move(versions);
  return {};
}

bool Scheme::recognizes(const GroupVersionKind& gvk) const noexcept { return type_of(gvk) != nullptr; }

const Schema* Scheme::type_of(const GroupVersionKind& gvk) const noexcept {
  const auto found = state_->types.find(gvk);
  return found == state_->types.end() ? nullptr : found->second.schema;
}

std::vector<std::string> Scheme::prioritized_versions(std::string_view group) const {
  std::vector<std::string> out;
  if (const auto found = state_->priorities.find(group); found != state_->priorities.end()) out = found->second;
  // Versions without a priority follow, in the order of their names.
  for (const auto& [gvk, type] : state_->types) {
    if (gvk.group == group && type.schema != nullptr && std::find(out.begin(), out.end(), gvk.version) == out.end())
      out.push_back(gvk.version);
  }
  return out;
}

bool Scheme::is_group_version_registered(const GroupVersion& gv) const noexcept {
  return std::any_of(state_->types.begin(), state_->types.end(), [&](const auto& entry) {
    return entry.second.schema != nullptr && entry.first.group == gv.group && entry.first.version == gv.version;
  });
}

std::vector<GroupVersionKind> Scheme::known_types() const {
  std::vector<GroupVersionKind> out;
  for (const auto& [gvk, type] : state_->types) {
    if (type.schema != nullptr) out.push_back(gvk);
  }
  return out;
}

bool Scheme::converts(const GroupVersionKind& from, const GroupVersionKind& to) const noexcept {
  return from == to || state_->conversions.contains({from, to}) || state_->between(from, to) != nullptr;
}

Status Scheme::convert(const GroupVersionKind& from, const GroupVersionKind& to, Object& object) const {
  if (from == to) return {};
  const auto found = state_->conversions.find({from, to});
  if (found != state_->conversions.end()) {
    Status converted = found->second(object);
    if (converted.ok()) set_type(to, object);
    return converted;
  }
  const GroupVersionKind* hub = state_->between(from, to);
  if (hub == nullptr) {
    return Status(Reason::kInternalError, "converting (" + type_name(from) + ") to (" + type_name(to) + "): unknown conversion");
  }
  Status converted = convert(from, *hub, object);
  return converted.ok() ? convert(*hub, to, object) : converted;
}

Result<std::string> Scheme::stored_field_label(const GroupVersionKind& gvk, std::string_view label) const {
  if (label == "metadata.name" || label == "metadata.namespace") return std::string(label);
  const auto type = state_->types.find(gvk);
  if (type != state_->types.end()) {
    const auto& labels = type->second.field_labels;
    const auto found = std::find_if(labels.begin(), labels.end(), [&](const FieldLabel& each) { return each.label == label; });
    if (found != labels.end()) return found->stored.empty() ? found->label : found->stored;
    if (labels.empty()) {
      return bad_request(quoted(label) + " is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
    }
  }
  return bad_request("field label not supported: " + std::string(label));
}

Status Scheme::merge(const Scheme& other) {
  for (const auto& [gvk, type] : other.state_->types) {
    const auto found = state_->types.find(gvk);
    if (found == state_->types.end()) continue;
    if (!type.registrant.empty() && !found->second.registrant.empty()) return registered_twice(gvk, found->second.registrant);
  }
  for (const auto& [pair, function] : other.state_->conversions) {
    if (state_->conversions.contains(pair)) {
      return Status(Reason::kAlreadyExists, "conversion of " + print(pair.first) + " to " + print(pair.second) + " is already registered");
    }
  }
  for (const auto& [gvk, type] : other.state_->types) {
    KnownType& mine = state_->types[gvk];
    if (type.schema != nullptr || !type.registrant.empty()) {
      mine.schema = type.schema;
      mine.keep = type.keep;
      mine.registrant = type.registrant;
    }
    mine.field_labels.insert(mine.field_labels.end(), type.field_labels.begin(), type.field_labels.end());
  }
  state_->conversions.insert(other.state_->conversions.begin(), other.state_->conversions.end());
  for (const auto& [group, versions] : other.state_->priorities) state_->priorities[group] = versions;
  return {};
}

}  // namespace BACKPLANE_API
