// Pod groups and workloads: rules on new ones, of which nearly nothing can change, and how they are shown.
#include "pod_groups.hpp"

#include <set>

#include "backplane/kit/strategy.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"

namespace backplane::scheduling {
namespace {

using namespace kit;

// Exactly one of the members is set.
void check_one_of(const Object& object, std::initializer_list<std::string_view> members, const std::string& path, FieldErrors& errors) {
  std::string all, set;
  int count = 0;
  for (const std::string_view member : members) {
    const std::string name = "`" + std::string(member) + "`";
    all += (all.empty() ? "" : ", ") + name;
    if (!has(object, member)) continue;
    set += (set.empty() ? "" : ", ") + std::string(member);
    ++count;
  }
  if (count == 0) errors.invalid(path, "", "must specify one of: " + all);
  if (count > 1) errors.invalid(path, "{" + set + "}", "must specify exactly one of: " + all);
}

// No two items have the same name; what is there twice is quoted as it is published.
void check_names(const Object& holder, std::string_view list, const std::string& path, FieldErrors& errors) {
  std::set<std::string_view> seen;
  each(holder, list, [&](const Object& item, std::size_t i) {
    if (!seen.insert(get_string(item, "name")).second) errors.duplicate_raw(at(at(path, list), i), to_json(item));
  });
}

// What a group and a template of groups have in common.
void check_group(const Object& group, const std::string& path, FieldErrors& errors) {
  check_one_of(object_or_empty(group, "schedulingPolicy"), {"basic", "gang"}, at(path, "schedulingPolicy"), errors);
  check_names(group, "resourceClaims", path, errors);
  each(group, "resourceClaims", [&](const Object& claim, std::size_t i) {
    check_one_of(claim, {"resourceClaimName", "resourceClaimTemplateName"}, at(at(path, "resourceClaims"), i), errors);
  });
}

class PodGroupStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void check_new(const Object& object, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    const Object* reference = get_object(spec, "podGroupTemplateRef");
    if (reference != nullptr) check_one_of(*reference, {"workload"}, "spec.podGroupTemplateRef", errors);
    check_group(spec, "spec", errors);
  }
};

class PodGroupStatusStrategy final : public StatusStrategy {
 public:
  explicit PodGroupStatusStrategy(std::shared_ptr<const Strategy> parent)
      : StatusStrategy(std::move(parent), {"labels", "annotations", "finalizers", "ownerReferences"}) {}

 protected:
  void check_status(const Object& object, const Object&, FieldErrors& errors) const override {
    const Object& status = object_or_empty(object, "status");
    check_names(status, "resourceClaimStatuses", "status", errors);
    each(status, "resourceClaimStatuses", [&](const Object& claim, std::size_t i) {
      const std::string_view name = get_string(claim, "name");
      if (find_item(object_or_empty(object, "spec"), "resourceClaims", "name", name) != nullptr) return;
      errors.invalid(at(at("status.resourceClaimStatuses", i), "name"), name, "must match the name of an entry in `spec.resourceClaims`");
    });
  }
};

class WorkloadStrategy final : public KindStrategy {
 public:
  using KindStrategy::KindStrategy;

 protected:
  void check_new(const Object& object, FieldErrors& errors) const override {
    const Object& spec = object_or_empty(object, "spec");
    check_names(spec, "podGroupTemplates", "spec", errors);
    each(spec, "podGroupTemplates",
         [&](const Object& group, std::size_t i) { check_group(group, at("spec.podGroupTemplates", i), errors); });
  }
};

void print_policy(const Object& group, std::int64_t, Array& cells) {
  cells.emplace_back(find_path(group, {"spec", "schedulingPolicy", "gang"}) != nullptr ? "Gang" : "Basic");
}

void print_state(const Object& group, std::int64_t, Array& cells) {
  const Object& status = object_or_empty(group, "status");
  const Object* scheduled = find_item(status, "conditions", "type", "PodGroupScheduled");
  const Object* disrupted = find_item(status, "conditions", "type", "DisruptionTarget");
  std::string_view out = scheduled == nullptr ? "Pending" : get_string(*scheduled, "status") == "True" ? "Scheduled" : "Unschedulable";
  if (disrupted != nullptr) out = get_string(*disrupted, "reason");
  cells.emplace_back(out);
}

}  // namespace

void add_pod_groups(GroupCode& code) {
  code.kinds["PodGroup"] = {.make = made<PodGroupStrategy>(), .make_status = made_status<PodGroupStatusStrategy>};
  code.kinds["Workload"] = {.make = made<WorkloadStrategy>()};
  code.printers.insert({{"policy", print_policy}, {"groupState", print_state}});
}

}  // namespace backplane::scheduling
