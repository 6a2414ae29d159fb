#include <array>

#include "backplane/core/json_access.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/types/struct_difference.hpp"
#include "nodes/restrictions.hpp"

namespace backplane::admission::nodes {
namespace {

// What a node may change: the progress of an expansion.
constexpr std::array<std::string_view, 4> kExpansionMembers = {"capacity", "conditions", "allocatedResourceStatuses", "allocatedResources"};
// What an update changes on its own.
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

// nullopt if nothing else differs.
std::optional<std::string> other_difference(const NodeRequest& request) {
  const Object before = compared_part(*request.attributes.old_object), now = compared_part(*request.attributes.object);
  const auto storage = request.data.host.find_storage({"", "v1", "persistentvolumeclaims"});
  const Schema* schema = storage != nullptr ? storage->schema() : nullptr;
  if (schema != nullptr) return struct_difference(*schema, before, now);
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
