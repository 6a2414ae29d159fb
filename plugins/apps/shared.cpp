#include "shared.hpp"

#include <array>
#include <cassert>

#include "apps_v1_json.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/workload/printing.hpp"
#include "backplane/workload/warnings.hpp"
#include "backplane/workload/workload.hpp"

namespace backplane::apps {

using namespace kit;
using namespace workload;

std::shared_ptr<const SchemaSet> apps_schemas() {
  static const auto schemas = [] {
    const std::array<std::string_view, 1> documents = {apps_v1_json()};
    auto made = SchemaSet::embedded(documents, {core_schemas(), meta_schemas()});
    assert(made.ok());
    return std::move(*made);
  }();
  return schemas;
}

std::string print_struct(std::string_view type, const Object& object) {
  return to_json(apps_schemas()->find("io.k8s.api.apps.v1." + std::string(type))->go_struct(object));
}

std::vector<TableColumn> with_template_columns(std::vector<TableColumn> columns) {
  columns.push_back(shown_column("Containers", "Names of the containers.", ".spec.template.spec.containers", show_names, 1));
  columns.push_back(shown_column("Images", "Images of the containers.", ".spec.template.spec.containers", show_images, 1));
  columns.push_back(shown_column("Selector", "Labels of its pods.", ".spec.selector", show_selector, 1));
  return columns;
}

void print_ready(const Object& object, std::int64_t, Array& cells) {
  cells.emplace_back(std::to_string(get_int_path(object, "status.readyReplicas").value_or(0)) + "/" +
                     std::to_string(get_int_path(object, "spec.replicas").value_or(0)));
}

std::vector<std::string> named_workload_warnings(const Object& object, const Object* old) {
  Warnings out;
  if (old == nullptr) warn_of_host_name(object, "Pod names and hostnames", out);
  for (std::string& text : workload_warnings(object, old)) out.push_back(std::move(text));
  return out;
}

}  // namespace backplane::apps
