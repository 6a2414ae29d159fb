#include "shared.hpp"

#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/workload/printing.hpp"
#include "backplane/workload/warnings.hpp"
#include "backplane/workload/workload.hpp"

namespace backplane::apps {

using namespace kit;
using namespace workload;

std::vector<TableColumn> with_template_columns(std::vector<TableColumn> columns) {
  columns.push_back(text_column("Containers", "Names of the containers.", 1));
  columns.push_back(text_column("Images", "Images of the containers.", 1));
  columns.push_back(text_column("Selector", "Labels of its pods.", 1));
  return columns;
}

void add_template_cells(const Object& spec, Array& cells) {
  const Object& pod_spec = object_or_empty(object_or_empty(spec, "template"), "spec");
  cells.emplace_back(container_names(pod_spec));
  cells.emplace_back(container_images(pod_spec));
  cells.emplace_back(print_selector(get_object(spec, "selector")));
}

std::string print_rolling_update(const Object& strategy) {
  const Object* rolling = get_object(strategy, "rollingUpdate");
  std::string out = "{\"Type\":" + to_json(Value(get_string(strategy, "type"))) + ",\"RollingUpdate\":";
  if (rolling == nullptr) return out + "null}";
  return out + "{\"MaxUnavailable\":" + print_int_or_string(find(*rolling, "maxUnavailable")) +
         ",\"MaxSurge\":" + print_int_or_string(find(*rolling, "maxSurge")) + "}}";
}

std::vector<std::string> named_workload_warnings(const Object& object, const Object* old) {
  Warnings out;
  if (old == nullptr) warn_of_host_name(object, "Pod names and hostnames", out);
  for (std::string& text : workload_warnings(object, old)) out.push_back(std::move(text));
  return out;
}

}  // namespace backplane::apps
