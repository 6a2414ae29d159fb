// The columns of an autoscaler in kubectl get.
#include "backplane/kit/table.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "strategy.hpp"

namespace backplane::autoscaling {
namespace {

using namespace kit;

constexpr std::size_t kShownMetrics = 2;
constexpr const char* kUnknown = "<unknown>";

std::string text_or(const Object& object, std::string_view key, std::string_view otherwise) {
  const std::string_view text = get_string(object, key);
  return std::string(text.empty() ? otherwise : text);
}

std::string percent_or(const Object& object, std::string_view otherwise) {
  const auto percent = get_int(object, "averageUtilization");
  return percent ? std::to_string(*percent) + "%" : std::string(otherwise);
}

// Prints an object or external metric: the total of all pods, or the average per pod.
std::string print_total(const Object& target, const Object& current) {
  if (has(target, "averageValue")) {
    return text_or(current, "averageValue", kUnknown) + "/" + text_or(target, "averageValue", "") + " (avg)";
  }
  return text_or(current, "value", kUnknown) + "/" + text_or(target, "value", kUnknown);
}

std::string print_resource(const Object& source, const Object& current) {
  const Object& target = object_or_empty(source, "target");
  const std::string name = std::string(get_string(source, "name")) + ": ";
  if (has(target, "averageValue")) return name + text_or(current, "averageValue", kUnknown) + "/" + text_or(target, "averageValue", "");
  return name + percent_or(current, kUnknown) + "/" + percent_or(target, "<auto>");
}

std::string print_metric(const Object& metric, const Object& status) {
  const std::string_view type = get_string(metric, "type");
  const auto source = [&](std::string_view member) -> const Object& { return object_or_empty(metric, member); };
  const auto current = [&](std::string_view member) -> const Object& {
    return object_or_empty(object_or_empty(status, member), "current");
  };
  if (type == "External") return print_total(object_or_empty(source("external"), "target"), current("external"));
  if (type == "Object") return print_total(object_or_empty(source("object"), "target"), current("object"));
  if (type == "Pods") {
    return text_or(current("pods"), "averageValue", kUnknown) + "/" +
           text_or(object_or_empty(source("pods"), "target"), "averageValue", kUnknown);
  }
  if (type == "Resource") return print_resource(source("resource"), current("resource"));
  if (type == "ContainerResource") return print_resource(source("containerResource"), current("containerResource"));
  return "<unknown type>";
}

std::string print_metrics(const Object& object) {
  static const Object kNone;
  const Array* statuses = get_array(object_or_empty(object, "status"), "currentMetrics");
  std::vector<std::string> shown;
  std::size_t count = 0;
  each(object_or_empty(object, "spec"), "metrics", [&](const Object& metric, std::size_t i) {
    if (++count > kShownMetrics) return;
    const Object* status = statuses != nullptr && i < statuses->size() ? (*statuses)[i].if_object() : nullptr;
    shown.push_back(print_metric(metric, status != nullptr ? *status : kNone));
  });
  if (count == 0) return "<none>";
  std::string out = joined(shown, ", ");
  if (count > kShownMetrics) out += " + " + std::to_string(count - kShownMetrics) + " more...";
  return out;
}

void print_targets(const Object& object, std::int64_t, Array& cells) { cells.emplace_back(print_metrics(object)); }

}  // namespace

void add_autoscaler_printers(GroupCode& code) { code.printers.emplace("metrics", print_targets); }

}  // namespace backplane::autoscaling
