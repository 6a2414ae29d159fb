#include "nodes/node_labels.hpp"

#include <algorithm>
#include <array>

#include "backplane/core/json_access.hpp"

namespace backplane::admission::nodes {
namespace {

constexpr std::array<std::string_view, 11> kKubeletLabels = {
    "kubernetes.io/hostname",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "kubernetes.io/os",
    "kubernetes.io/arch",
    "beta.kubernetes.io/os",
    "beta.kubernetes.io/arch",
};

// The part before the first '/'; empty if there is none.
std::string_view prefix_of(std::string_view key) {
  const std::size_t end = key.find('/');
  return end == std::string_view::npos ? std::string_view() : key.substr(0, end);
}

// The domain itself or a subdomain of it.
bool is_in(std::string_view prefix, std::string_view domain) {
  if (!prefix.ends_with(domain)) return false;
  return prefix.size() == domain.size() || prefix[prefix.size() - domain.size() - 1] == '.';
}

bool is_kubelet_label(std::string_view key) {
  if (std::find(kKubeletLabels.begin(), kKubeletLabels.end(), key) != kKubeletLabels.end()) return true;
  return is_in(prefix_of(key), "kubelet.kubernetes.io") || is_in(prefix_of(key), "node.kubernetes.io");
}

bool is_forbidden(std::string_view key) {
  const std::string_view prefix = prefix_of(key);
  if (is_in(prefix, "node-restriction.kubernetes.io")) return true;
  return (is_in(prefix, "kubernetes.io") || is_in(prefix, "k8s.io")) && !is_kubelet_label(key);
}

const Object& node_labels_of(const Object& object) { return object_or_empty(object_or_empty(object, "metadata"), "labels"); }

void add_differing(const Object& labels, const Object& others, std::set<std::string>& out) {
  for (const auto& label : labels) {
    const Value* other = find(others, label.key());
    if ((other == nullptr || *other != label.value()) && is_forbidden(label.key())) out.emplace(label.key());
  }
}

}  // namespace

std::set<std::string> forbidden_label_changes(const Object& node, const Object* old) {
  static const Object kNone;
  const Object &labels = node_labels_of(node), &before = old != nullptr ? node_labels_of(*old) : kNone;
  std::set<std::string> out;
  add_differing(labels, before, out);
  add_differing(before, labels, out);
  return out;
}

}  // namespace backplane::admission::nodes
