// The group flowcontrol.apiserver.k8s.io: behaviour of its kinds beyond schema/flowcontrol_group.json, and the objects that every server
// has.
//
// Thread-safety: pure functions; the schemas and bootstrap objects are made once and never change.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/kit/group_document.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::flowcontrol {

inline constexpr std::string_view kGroup = "flowcontrol.apiserver.k8s.io";
inline constexpr std::string_view kFlowSchemas = "flowschemas";
inline constexpr std::string_view kPriorityLevels = "prioritylevelconfigurations";
// The annotation that determines whether the server maintains the built-in spec of the object.
inline constexpr std::string_view kAutoUpdate = "apf.kubernetes.io/autoupdate-spec";

std::shared_ptr<const SchemaSet> flowcontrol_schemas();
Result<kit::GroupDocument> flowcontrol_group();

// An object that the server creates if it is missing.
struct Bootstrap {
  std::string_view resource;
  std::string name;
  bool mandatory = false;  // a changed spec is reverted even if the annotation kAutoUpdate is false
  Object spec;             // normalized and with defaults, as the store returns it
};
// The objects of schema/flowcontrol_bootstrap.json, in upstream's order.
const std::vector<Bootstrap>& bootstrap_objects();
const Bootstrap* find_bootstrap(std::string_view resource, std::string_view name);  // null: no such object

}  // namespace backplane::flowcontrol
