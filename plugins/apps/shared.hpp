// What the kinds of apps/v1 have in common.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/schema.hpp"
#include "backplane/table.hpp"

namespace backplane::apps {

// The types of the group; pod templates are types of the core group.
std::shared_ptr<const SchemaSet> apps_schemas();

// "1/3": ready pods, of how many.
TableColumn ready_column();

}  // namespace backplane::apps
