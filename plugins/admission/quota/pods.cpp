// Pods: their number and resources; all scopes of pods.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/types/resource_names.hpp"
#include "quota/evaluators.hpp"
#include "quota/pod_usage.hpp"

namespace backplane::admission::quota {
namespace {

constexpr std::array<std::string_view, 11> kPodResources = {"count/pods",
                                                            "pods",
                                                            "cpu",
                                                            "memory",
                                                            "ephemeral-storage",
                                                            "requests.cpu",
                                                            "requests.memory",
                                                            "limits.cpu",
                                                            "limits.memory",
                                                            "requests.ephemeral-storage",
                                                            "limits.ephemeral-storage"};

// If a quota counts one of these, each container must state an amount of it.
constexpr std::array<std::string_view, 6> kRequired = {"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory"};

template <class Table>
bool has_name(const Table& table, std::string_view name) {
  return std::find(table.begin(), table.end(), name) != table.end();
}

bool is_pod_resource(std::string_view name) {
  return has_name(kPodResources, name) || is_huge_page(name) || name.starts_with("requests.hugepages-") || is_extended_quota_resource(name);
}

bool is_terminating(const Object& pod) { return get_int(object_or_empty(pod, "spec"), "activeDeadlineSeconds").value_or(-1) >= 0; }

bool is_cross_namespace(const Object& term) { return count_of(term, "namespaces") != 0 || has(term, "namespaceSelector"); }

bool has_cross_namespace_affinity(const Object& pod) {
  bool found = false;
  const Object& affinity = object_or_empty(object_or_empty(pod, "spec"), "affinity");
  for (const std::string_view kind : {"podAffinity", "podAntiAffinity"}) {
    const Object& terms = object_or_empty(affinity, kind);
    each(terms, "requiredDuringSchedulingIgnoredDuringExecution",
         [&](const Object& term, std::size_t) { found |= is_cross_namespace(term); });
    each(terms, "preferredDuringSchedulingIgnoredDuringExecution",
         [&](const Object& term, std::size_t) { found |= is_cross_namespace(object_or_empty(term, "podAffinityTerm")); });
  }
  return found;
}

Result<bool> matches_priority(const ScopeSelector& selector, const Object& pod) {
  const std::string_view name = get_string(object_or_empty(pod, "spec"), "priorityClassName");
  if (selector.op == "Exists") return !name.empty();
  return matches_value(selector, name.empty() ? std::nullopt : std::optional(name));
}

class PodEvaluator final : public Evaluator {
 public:
  explicit PodEvaluator(const Gates& gates) : gates_(gates) {}
  bool handles(const AdmissionAttributes& attributes) const override {
    const bool is_update = attributes.operation == AdmissionOperation::kUpdate;
    if (attributes.subresource == "resize") return is_update;
    if (!attributes.subresource.empty()) return false;
    if (attributes.operation == AdmissionOperation::kCreate) return true;
    if (!is_update || attributes.object == nullptr || attributes.old_object == nullptr) return false;
    return is_terminating(*attributes.object) != is_terminating(*attributes.old_object);
  }
  ResourceNames matching_resources(const ResourceNames& names) const override {
    ResourceNames out;
    std::copy_if(names.begin(), names.end(), std::back_inserter(out), is_pod_resource);
    return out;
  }
  bool has_scopes() const override { return true; }
  Result<bool> matches_scope(const ScopeSelector& selector, const Object& pod) const override {
    if (selector.scope == "Terminating") return is_terminating(pod);
    if (selector.scope == "NotTerminating") return !is_terminating(pod);
    if (selector.scope == "BestEffort") return is_best_effort(pod, gates_.pod_level_resources);
    if (selector.scope == "NotBestEffort") return !is_best_effort(pod, gates_.pod_level_resources);
    if (selector.scope == "PriorityClass") return matches_priority(selector, pod);
    if (selector.scope == "CrossNamespacePodAffinity") return has_cross_namespace_affinity(pod);
    return false;
  }
  std::optional<std::string> missing(const ResourceNames& required, const Object& pod) const override;
  ResourceList usage(const Subject& subject) const override { return pod_usage(*subject.object, gates_); }

 private:
  const Gates gates_;
};

std::optional<std::string> PodEvaluator::missing(const ResourceNames& required, const Object& pod) const {
  if (gates_.pod_level_resources && has_pod_level_resources(pod)) return std::nullopt;
  std::map<std::string, std::set<std::string>> containers;  // by resource
  const auto check = [&](const Object& container, std::size_t) {
    const Object& resources = object_or_empty(container, "resources");
    const ResourceList stated = compute_usage(read_resources(resources, "requests"), read_resources(resources, "limits"));
    for (const std::string& name : required) {
      if (has_name(kRequired, name) && !stated.contains(name)) containers[name].emplace(get_string(container, "name"));
    }
  };
  each(object_or_empty(pod, "spec"), "containers", check);
  each(object_or_empty(pod, "spec"), "initContainers", check);
  if (containers.empty()) return std::nullopt;
  std::string out;
  for (const auto& [name, names] : containers) {
    out += (out.empty() ? "must specify " : "; ") + name + " for: " + print(ResourceNames(names.begin(), names.end()));
  }
  return out;
}

}  // namespace

std::unique_ptr<Evaluator> make_pod_evaluator(const Gates& gates) { return std::make_unique<PodEvaluator>(gates); }

}  // namespace backplane::admission::quota
