#include "podsecurity/existing_pods.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "podsecurity/evaluator.hpp"

namespace backplane::admission::podsecurity {
namespace {

// The pods that have the same findings: the first name, and the number of pods.
struct PodGroup {
  std::string first;
  std::size_t count = 0;

  void add(std::string_view name) {
    if (count++ == 0 || name < first) first = name;
  }
  std::string text(const std::string& reasons) const {
    std::string out = first;
    if (count == 2) out += " (and 1 other pod)";
    if (count > 2) out += " (and " + std::to_string(count - 1) + " other pods)";
    return out + ": " + reasons;
  }
};

// The uid of the controller that owns the pod; empty if there is none.
std::string controller_of(const Object& pod) {
  std::string uid;
  each(object_or_empty(pod, "metadata"), "ownerReferences", [&](const Object& owner, std::size_t) {
    if (uid.empty() && get_bool(owner, "controller") == true) uid = get_string(owner, "uid");
  });
  return uid;
}

// The pods in the order of the checks, without those of exempt runtime classes. Further pods of a controller are last.
std::vector<Object> prioritized(const Configuration& configuration, const std::vector<ObjectRef>& pods) {
  std::vector<Object> out, later;
  std::set<std::string> controllers;
  for (const ObjectRef& entry : pods) {
    Object pod = decode(*entry, {});
    if (configuration.exempts_runtime_class(object_or_empty(pod, "spec"))) continue;
    const std::string controller = controller_of(pod);
    const bool repeated = !controller.empty() && !controllers.insert(controller).second;
    (repeated ? later : out).push_back(std::move(pod));
  }
  std::move(later.begin(), later.end(), std::back_inserter(out));
  return out;
}

}  // namespace

std::vector<std::string> existing_pod_warnings(const Configuration& configuration, std::string_view ns, const LevelVersion& enforce,
                                               const std::vector<ObjectRef>& pods, const PodCheckLimits& limits) {
  const std::vector<Object> all = prioritized(configuration, pods);
  std::map<std::string, PodGroup> groups;  // by findings
  std::size_t checked = 0;
  while (checked < std::min(all.size(), limits.most_pods)) {
    const Object& pod = all[checked++];
    const Verdict verdict = evaluate(enforce, object_or_empty(pod, "metadata"), object_or_empty(pod, "spec"));
    if (!verdict.allowed()) groups[verdict.reasons()].add(meta_name(pod));
    if (std::chrono::steady_clock::now() >= limits.deadline) break;
  }
  std::vector<std::string> warnings;
  if (checked < all.size()) {
    warnings.push_back("new PodSecurity enforce level only checked against the first " + std::to_string(checked) + " of " +
                       std::to_string(all.size()) + " existing pods");
  }
  if (!groups.empty()) {
    warnings.push_back("existing pods in namespace " + quoted(ns) + " violate the new PodSecurity enforce level " + quoted(enforce.text()));
  }
  std::vector<std::string> texts;
  for (const auto& [reasons, group] : groups) texts.push_back(group.text(reasons));
  std::sort(texts.begin(), texts.end());
  std::move(texts.begin(), texts.end(), std::back_inserter(warnings));
  return warnings;
}

}  // namespace backplane::admission::podsecurity
