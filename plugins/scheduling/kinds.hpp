// The group scheduling.k8s.io, with the behaviour of its kinds that schema/scheduling_group.json does not describe.
//
// Thread-safety: pure functions.
#pragma once

#include <array>
#include <string_view>

#include "backplane/kit/group.hpp"

namespace backplane::scheduling {

// A priority class that the server maintains.
struct SystemClass {
  std::string_view name;
  std::int32_t value;
  std::string_view description;
};
constexpr std::int32_t kHighestOwnPriority = 1'000'000'000;  // the maximum value of user-defined classes
constexpr std::array<SystemClass, 2> kSystemClasses = {
    {{"system-node-critical", 2 * kHighestOwnPriority + 1000, "For pods the system needs on the node where they run."},
     {"system-cluster-critical", 2 * kHighestOwnPriority, "For pods the system needs somewhere in the cluster."}}};

// Return the document of the group together with the code of its kinds, and the types of each version.
Result<kit::GroupDocument> scheduling_group();
Result<std::vector<std::shared_ptr<const SchemaSet>>> scheduling_schemas();

}  // namespace backplane::scheduling
