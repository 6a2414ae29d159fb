// Rules on changes of a job.
#include "backplane/core/json_access.hpp"
#include "backplane/types/deep_equal.hpp"
#include "kinds.hpp"

namespace backplane::batch {
namespace {

using namespace kit;

constexpr std::string_view kImmutable = "field is immutable";

// An immutable member. `type`: errors quote the value like this Go type; empty: as JSON.
struct FixedMember {
  std::string_view name;
  std::string_view type;
};
constexpr FixedMember kFixed[] = {{"selector", ""},
                                  {"completionMode", ""},
                                  {"podFailurePolicy", "PodFailurePolicy"},
                                  {"backoffLimitPerIndex", ""},
                                  {"managedBy", ""},
                                  {"successPolicy", "SuccessPolicy"}};

void check_fixed(const FixedMember& member, const Object& spec, const Object& before, FieldErrors& errors) {
  if (alike(find(spec, member.name), find(before, member.name))) return;
  const Value* value = find(spec, member.name);
  const bool typed = value != nullptr && value->is_object() && !member.type.empty();
  const std::string shown = value == nullptr ? "null" : typed ? go_text(member.type, value->get_object()) : to_json(*value);
  errors.invalid_raw(at("spec", member.name), shown, kImmutable);
}

// Indexed jobs may change completions if parallelism equals completions.
void check_completions(const Object& spec, const Object& before, FieldErrors& errors) {
  if (get_string(spec, "completionMode") != "Indexed") return check_fixed({"completions", ""}, spec, before, errors);
  const auto completions = get_int(spec, "completions");
  if (!completions || same_member(spec, before, "completions") || completions == get_int(spec, "parallelism")) return;
  errors.invalid("spec.completions", static_cast<long long>(*completions), "can only be modified in tandem with spec.parallelism");
}

bool is_suspended(const Object& job) { return get_bool(object_or_empty(job, "spec"), "suspend").value_or(false); }

bool has_started(const Object& job) { return !is_unset(find(object_or_empty(job, "status"), "startTime")); }

// Which fields of a suspended job a queueing controller may change: those that decide where its pods run, and their resources.
struct Open {
  bool scheduling = false, resources = false;
};

Open opening(const Object& job, JobGates gates) {
  const bool idle = get_int(object_or_empty(job, "status"), "active").value_or(0) == 0;
  const bool open = is_suspended(job) && (!has_started(job) || is_true(job, "Suspended")) && idle;
  return {gates.scheduling ? open : is_suspended(job) && !has_started(job), gates.resources && open};
}

void take_node_affinity(Object& pod, const Object& from) {
  const Object* now = get_object(from, "affinity");
  Object* before = mutable_object(pod, "affinity");
  if (now != nullptr) {
    take_member(before != nullptr ? *before : pod["affinity"].emplace_object(), *now, "nodeAffinity");
  } else if (before != nullptr) {
    erase_member(*before, "nodeAffinity");
    if (before->empty()) erase_member(pod, "affinity");
  }
}

void take_scheduling(Object& pod_template, const Object& from) {
  const Object& now = object_or_empty(from, "spec");
  Object& pod = ensure_object(pod_template, "spec");
  take_node_affinity(pod, now);
  for (std::string_view member : {"nodeSelector", "tolerations", "schedulingGates"}) take_member(pod, now, member);
  for (std::string_view member : {"annotations", "labels"}) {
    take_member(ensure_object(pod_template, "metadata"), object_or_empty(from, "metadata"), member);
  }
}

void take_resources(Object& pod, const Object& from, std::string_view list) {
  const Array* now = get_array(from, list);
  if (now == nullptr || now->size() != count_of(pod, list)) return;
  std::size_t i = 0;
  each_mutable(pod, list, [&](Object& container) {
    const Object* other = (*now)[i++].if_object();
    if (other != nullptr && get_string(*other, "name") == get_string(container, "name")) take_member(container, *other, "resources");
  });
}

void check_template(const Object& spec, const Object& before, Open open, FieldErrors& errors) {
  const Object& now = object_or_empty(spec, "template");
  Object wanted(object_or_empty(before, "template"));
  if (open.scheduling) take_scheduling(wanted, now);
  if (!open.resources) {
    if (now != wanted) errors.invalid_raw("spec.template", go_text("PodTemplateSpec", now), kImmutable);
    return;
  }
  const Object& pod = object_or_empty(now, "spec");
  Object& wanted_pod = ensure_object(wanted, "spec");
  for (std::string_view list : {"containers", "initContainers"}) take_resources(wanted_pod, pod, list);
  if (pod != wanted_pod) errors.invalid_raw("spec.template.spec", go_text("PodSpec", pod), kImmutable);
}

}  // namespace

void check_job_change(const Object& job, const Object& old, JobGates gates, FieldErrors& errors) {
  const Object& spec = object_or_empty(job, "spec");
  const Object& before = object_or_empty(old, "spec");
  check_completions(spec, before, errors);
  for (const FixedMember& member : kFixed) check_fixed(member, spec, before, errors);
  check_template(spec, before, opening(old, gates), errors);
}

}  // namespace backplane::batch
