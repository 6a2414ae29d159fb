#include <array>
#include <utility>

#include "backplane/core/json_access.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/types/struct_difference.hpp"
#include "nodes/restrictions.hpp"

namespace backplane::admission::nodes {
namespace {

// The members that a node may change: the progress of an expansion.
constexpr std::array<std::string_view, 4> kExpansionMembers = {"capacity", "conditions", "allocatedResourceStatuses", "allocatedResources"};
// Members that the server changes on an update.
constexpr std::array<std::string_view, 2> kVersionMembers = {"resourceVersion", "managedFields"};

template <std::size_t N>
void erase_all(Object& object, std::string_view parent, const std::array<std::string_view, N>& keys) {
  Object* members = mutable_object(object, parent);
  for (const std::string_view key : keys) {
    if (members != nullptr) erase_member(*members, key);
  }
}

// The claim without the members that may differ.
Object compared_part(const Object& claim) {
  Object copy(claim);
  erase_all(copy, "metadata", kVersionMembers);
  erase_all(copy, "status", kExpansionMembers);
  return copy;
}

bool is_empty(const Value& value) {
  return value.is_null() || (value.is_object() && value.get_object().empty()) || (value.is_array() && value.get_array().empty());
}

// The claim as Go marshals the internal type: the members of metadata are at the top and have names in lower case; the other members are
// Spec and Status.
Object as_go(const Schema& type, const Object& claim) {
  constexpr std::pair<std::string_view, std::string_view> kParts[] = {{"spec", "Spec"}, {"status", "Status"}};
  Object out;
  for (const auto& member : object_or_empty(claim, "metadata")) {
    if (!is_empty(member.value())) out[member.key()] = member.value();
  }
  for (const auto& [key, name] : kParts) {
    if (const Schema* part = type.property(key)) out[name] = part->go_struct(object_or_empty(claim, key));
  }
  return out;
}

// The schema of metadata.labels, a map, whose members have no Go names; null for a type without labels.
const Schema* map_type(const Schema& type) {
  const Schema* metadata = type.property("metadata");
  return metadata != nullptr ? metadata->property("labels") : nullptr;
}

// The difference outside the members that a node may change; nullopt: there is none.
std::optional<std::string> other_difference(const NodeRequest& request) {
  const Object before = compared_part(*request.attributes.old_object), now = compared_part(*request.attributes.object);
  const auto storage = request.data.host.find_storage({"", "v1", "persistentvolumeclaims"});
  const Schema* type = storage != nullptr ? storage->schema() : nullptr;
  const Schema* map_schema = type != nullptr ? map_type(*type) : nullptr;
  if (map_schema != nullptr) return struct_difference(*map_schema, as_go(*type, before), as_go(*type, now));
  return before == now ? std::nullopt : std::optional<std::string>(std::string());
}

}  // namespace

Status restrict_claim(const NodeRequest& request) {
  if (request.attributes.subresource != "status") return request.refuse("may only update PVC status");
  if (request.attributes.operation != AdmissionOperation::kUpdate) return request.unexpected_operation();
  const auto difference = other_difference(request);
  if (!difference) return {};
  return request.refuse("node " + quoted(request.node) +
                        " is not allowed to update fields other than status.quantity and status.conditions: " + *difference);
}

}  // namespace backplane::admission::nodes
