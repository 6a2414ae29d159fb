#include <backplane/core/metrics.hpp>

#include "autoregister.hpp"

namespace backplane {
namespace {

const Object* available_condition(const Object& object) {
  const Value* conditions = find_path(object, "status.conditions");
  if (!conditions || !conditions->is_array()) return nullptr;
  for (const auto& item : conditions->get_array()) {
    if (item.is_object() && get_string(item.get_object(), "type") == "Available") return &item.get_object();
  }
  return nullptr;
}

Metric& unavailable() {
  static Metric& now =
      Metric::gauge("aggregator_unavailable_apiservice",
                    "[ALPHA] Gauge of APIServices which are marked as unavailable broken down by APIService name.", {"name"});
  return now;
}

}  // namespace

void count_availability(const std::string& name, bool available) { unavailable().set({name}, available ? 0 : 1); }

void count_loss(const std::string& name, const std::string& reason) {
  static Metric& total = Metric::counter("aggregator_unavailable_apiservice_total",
                                         "[ALPHA] Counter of APIServices which are marked as unavailable broken down by APIService name "
                                         "and reason.",
                                         {"name", "reason"});
  total.add({name, reason});
}

void count_no_more(const std::string& name) { unavailable().forget({name}); }

std::string_view available_status(const Object& object) {
  const Object* condition = available_condition(object);
  return condition ? get_string(*condition, "status") : std::string_view();
}

Availability availability_of(const Object& object) {
  const Object* condition = available_condition(object);
  if (condition == nullptr) return {};
  return {std::string(get_string(*condition, "status")), std::string(get_string(*condition, "reason")),
          std::string(get_string(*condition, "message"))};
}

bool has_availability(const Object& object, const Availability& wanted) { return availability_of(object) == wanted; }

Availability local_availability() { return {"True", "Local", "Local APIServices are always available"}; }

void set_availability(Object& object, const Availability& wanted) {
  const Object* before = available_condition(object);
  const bool same_status = before && get_string(*before, "status") == wanted.status;
  const std::string since = same_status ? std::string(get_string(*before, "lastTransitionTime")) : now_rfc3339();
  Object condition(object.storage());
  condition["type"] = "Available";
  condition["status"] = wanted.status;
  condition["lastTransitionTime"] = since;
  condition["reason"] = wanted.reason;
  condition["message"] = wanted.message;
  Array& conditions = ensure_array(ensure_object(object, "status"), "conditions");
  for (auto& item : conditions) {
    if (item.is_object() && get_string(item.get_object(), "type") == "Available") {
      item = std::move(condition);
      return;
    }
  }
  conditions.emplace_back(std::move(condition));
}

}  // namespace backplane
