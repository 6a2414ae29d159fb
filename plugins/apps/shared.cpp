#include "shared.hpp"

#include <array>
#include <cassert>

#include "apps_v1_json.hpp"
#include "backplane/kit/table.hpp"

namespace backplane::apps {
namespace {

void print_ready(const Object& object, std::int64_t, Array& cells) {
  cells.emplace_back(std::to_string(get_int_path(object, "status.readyReplicas").value_or(0)) + "/" +
                     std::to_string(get_int_path(object, "spec.replicas").value_or(0)));
}

}  // namespace

std::shared_ptr<const SchemaSet> apps_schemas() {
  static const auto schemas = [] {
    const std::array<std::string_view, 1> documents = {apps_v1_json()};
    auto made = SchemaSet::embedded(documents, {core_schemas(), meta_schemas()});
    assert(made.ok());
    return std::move(*made);
  }();
  return schemas;
}

TableColumn ready_column() { return kit::computed_column("Ready", "Pods that are ready, of how many.", print_ready); }

}  // namespace backplane::apps
