// What the kinds of apps/v1 print and say alike.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "backplane/json.hpp"
#include "backplane/schema.hpp"
#include "backplane/table.hpp"

namespace backplane::apps {

// The types of the group; pod templates are types of the core group.
std::shared_ptr<const SchemaSet> apps_schemas();

// The columns of -o wide behind a kind's own.
std::vector<TableColumn> with_template_columns(std::vector<TableColumn> columns);
// "1/3": ready pods, of how many.
void print_ready(const Object& object, std::int64_t now_unix, Array& cells);

// A type of the group as its Go struct is printed in messages.
std::string print_struct(std::string_view type, const Object& object);

// Warnings of a workload whose name becomes the host name of its pods.
std::vector<std::string> named_workload_warnings(const Object& object, const Object* old);

}  // namespace backplane::apps
