// Warnings about pods as a whole, and about containers and ports.
#include "backplane/workload/warnings.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/core/status.hpp"
#include "backplane/types/ip_addresses.hpp"
#include "backplane/types/names.hpp"
#include "backplane/workload/pod_annotations.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

struct Deprecated {
  std::string_view key;
  std::string_view message;
};
constexpr Deprecated kNodeLabels[] = {
    {"beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead"},
    {"beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead"},
    {"failure-domain.beta.kubernetes.io/region", "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead"},
    {"failure-domain.beta.kubernetes.io/zone", "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"},
    {"beta.kubernetes.io/instance-type", "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"},
    {"app.kubernetes.io/created-by", "deprecated since v1.9"},
    {"scheduler.alpha.kubernetes.io/preferAvoidPods", "deprecated since v1.22; use Taints and Tolerations instead"},
    {"node-role.kubernetes.io/master", "use \"node-role.kubernetes.io/control-plane\" instead"},
};
constexpr Deprecated kAnnotations[] = {
    {"scheduler.alpha.kubernetes.io/critical-pod", "non-functional in v1.16+; use the \"priorityClassName\" field instead"},
    {"security.alpha.kubernetes.io/sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"},
    {"security.alpha.kubernetes.io/unsafe-sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"},
};
constexpr Deprecated kVolumes[] = {
    {"photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"},
    {"gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
    {"scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
    {"flocker", "deprecated in v1.22, non-functional in v1.25+"},
    {"storageos", "deprecated in v1.22, non-functional in v1.25+"},
    {"quobyte", "deprecated in v1.22, non-functional in v1.25+"},
    {"glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
    {"ephemeral", ""},  // not deprecated; the claim of an ephemeral volume is checked at this position
    {"cephfs", "deprecated in v1.28, non-functional in v1.31+"},
    {"rbd", "deprecated in v1.28, non-functional in v1.31+"},
};
constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kMatchesNone = ": a null labelSelector results in matching no pod";

template <std::size_t N>
const Deprecated* find_row(const Deprecated (&rows)[N], std::string_view key) {
  const auto found = std::find_if(std::begin(rows), std::end(rows), [&](const Deprecated& row) { return row.key == key; });
  return found == std::end(rows) ? nullptr : &*found;
}

std::string text(std::string_view view) { return std::string(view); }

// All lists of containers, in the order in which upstream visits them.
constexpr std::string_view kContainerLists[] = {"initContainers", "containers", "ephemeralContainers"};
template <class Visit>
void each_container(const Object& pod_spec, const Path& path, Visit visit) {
  for (std::string_view list : kContainerLists) {
    each(pod_spec, list, [&](const Object& container, std::size_t i) { visit(container, path.at(list, i)); });
  }
}

void warn_of_node_affinity(const Object& node, const Path& path, Warnings& out) {
  each(object_or_empty(node, kRequired), "nodeSelectorTerms", [&](const Object& term, std::size_t i) {
    const Path required = path.at(kRequired);
    warn_of_node_term(term, false, required.at("nodeSelectorTerms", i), out);
  });
  each(node, kPreferred, [&](const Object& term, std::size_t i) {
    const Path item = path.at(kPreferred, i);
    warn_of_node_term(object_or_empty(term, "preference"), true, item.at("preference"), out);
  });
}

void warn_of_labels_of_nodes(const Object& pod_spec, const Path& path, Warnings& out) {
  const Path selector = path.at("nodeSelector");
  for (const auto& label : object_or_empty(pod_spec, "nodeSelector")) {
    const Deprecated* row = find_row(kNodeLabels, label.key());
    if (row != nullptr) out.push_back(selector.at_key(label.key()) + ": " + text(row->message));
  }
  if (const Object* node = get_object(object_or_empty(pod_spec, "affinity"), "nodeAffinity")) {
    warn_of_node_affinity(*node, path.at("affinity.nodeAffinity"), out);
  }
  each(pod_spec, "topologySpreadConstraints", [&](const Object& constraint, std::size_t i) {
    const Path item = path.at("topologySpreadConstraints", i);
    const std::string key(get_string(constraint, "topologyKey"));
    if (const Deprecated* row = find_row(kNodeLabels, key))
      out.push_back(item.at("topologyKey") + ": " + key + " is " + text(row->message));
    if (!has(constraint, "labelSelector")) out.push_back(item.at("labelSelector") + text(kMatchesNone));
  });
}

void warn_of_volumes(const Object& pod_spec, const Path& path, Warnings& out) {
  each(pod_spec, "volumes", [&](const Object& volume, std::size_t i) {
    const Path item = path.at("volumes", i);
    for (const Deprecated& row : kVolumes) {
      const Object* source = get_object(volume, row.key);
      if (source == nullptr) continue;
      if (!row.message.empty()) {
        out.push_back(item.at(row.key == "storageos" ? "storageOS" : row.key) + ": " + text(row.message));
      } else if (const Object* claim = get_object(*source, "volumeClaimTemplate")) {
        warn_of_claim_spec(object_or_empty(*claim, "spec"), item.at("ephemeral.volumeClaimTemplate.spec"), out);
      }
    }
  });
}

void warn_of_repeats(const Object& pod_spec, std::string_view list, std::string_view member, const Path& path, Warnings& out) {
  std::set<std::string> seen;
  each(pod_spec, list, [&](const Object& item, std::size_t i) {
    const std::string value(get_string(item, member));
    if (seen.insert(value).second) return;
    const Path repeated = path.at(list, i);
    out.push_back(repeated.at(member) + ": duplicate " + text(member) + " " + quoted(value));
  });
}

void warn_of_lists(const Object& pod_spec, const Path& path, Warnings& out) {
  warn_of_repeats(pod_spec, "hostAliases", "ip", path, out);
  warn_of_repeats(pod_spec, "imagePullSecrets", "name", path, out);
  each(pod_spec, "imagePullSecrets", [&](const Object& secret, std::size_t i) {
    const Path item = path.at("imagePullSecrets", i);
    if (get_string(secret, "name").empty()) out.push_back(item.at("name") + ": invalid empty name \"\"");
  });
  const Object* overhead = get_object(pod_spec, "overhead");
  if (overhead == nullptr) return;
  for (std::string_view resource : {"memory", "ephemeral-storage"}) warn_of_fraction(*overhead, resource, path.at("overhead"), out);
}

// Warns of variables that occur repeatedly, because they may be lost when lists are merged by name. A value that refers to the earlier
// value is intended, so it causes no warning.
void warn_of_hidden_variables(const Object& container, const Path& path, Warnings& out) {
  std::set<std::string> seen;
  each(container, "env", [&](const Object& variable, std::size_t i) {
    const std::string name(get_string(variable, "name"));
    if (seen.insert(name).second) return;
    const std::string reference = "$(" + name + ")";
    const std::string_view value = get_string(variable, "value");
    if (!has(variable, "valueFrom") && value != reference && value.find(reference) != std::string_view::npos) return;
    out.push_back(path.at("env", i) + ": hides previous definition of " + quoted(name) + ", which may be dropped when using apply");
  });
}

// Warns of legacy annotations about a container's isolation if the container does not set the corresponding field. For AppArmor, only in
// templates: the defaults of pods convert these annotations to fields.
void warn_of_profiles(const Object& container, const Object& annotations, const Object* pod_profile, bool is_template,
                      const Path& annotations_path, Warnings& out) {
  const Object& security = object_or_empty(container, "securityContext");
  const std::string name(get_string(container, "name"));
  const std::string seccomp = text(kContainerSeccompAnnotation) + name, armor = text(kAppArmorAnnotation) + name;
  if (!has(security, "seccompProfile") && annotations.contains(seccomp)) {
    out.push_back(annotations_path.at_key(seccomp) + ": non-functional in v1.27+; use the \"seccompProfile\" field instead");
  }
  const Value* annotation = find(annotations, armor);
  if (!is_template || annotation == nullptr || has(security, "appArmorProfile")) return;
  if (pod_profile != nullptr && app_armor_profile(text_of(*annotation)) == Value(*pod_profile)) return;
  out.push_back(annotations_path.at_key(armor) + ": deprecated since v1.30; use the \"appArmorProfile\" field instead");
}

void warn_of_containers(const Object& pod_spec, const Object& annotations, const Path& path, bool is_template, Warnings& out) {
  const Path annotations_path = path.at("metadata.annotations");
  const Object& security = object_or_empty(pod_spec, "securityContext");
  if (!has(security, "seccompProfile") && annotations.contains(kPodSeccompAnnotation)) {
    out.push_back(annotations_path.at_key(kPodSeccompAnnotation) + ": non-functional in v1.27+; use the \"seccompProfile\" field instead");
  }
  const Object* pod_profile = get_object(security, "appArmorProfile");
  each_container(pod_spec, path.at("spec"), [&](const Object& container, const Path& item) {
    warn_of_profiles(container, annotations, pod_profile, is_template, annotations_path, out);
    const Object& resources = object_or_empty(container, "resources");
    const Path limits_path = item.at("resources.limits"), requests_path = item.at("resources.requests");
    for (std::string_view resource : {"memory", "ephemeral-storage"}) {
      warn_of_fraction(object_or_empty(resources, "limits"), resource, limits_path, out);
      warn_of_fraction(object_or_empty(resources, "requests"), resource, requests_path, out);
    }
    warn_of_hidden_variables(container, item, out);
  });
}

// The indexes of a port and of its container, and the list of the container.
struct PortPlace {
  std::string_view list;
  std::size_t container, port;

  std::string below(const Path& path) const {
    const Path container_path = path.at(list, container);
    return container_path.at("ports", port);
  }
};

struct SeenPort {
  PortPlace place;
  std::string_view host_ip;
  std::int64_t host_port;
};

template <class Visit>
void each_port(const Object& pod_spec, Visit visit) {
  for (std::string_view list : kContainerLists) {
    each(pod_spec, list, [&](const Object& container, std::size_t c) {
      each(container, "ports", [&](const Object& port, std::size_t p) { visit(port, PortPlace{list, c, p}); });
    });
  }
}

// The maximum number of warnings in a response, because the number of collisions may be quadratic in the number of ports.
constexpr std::size_t kMostWarnings = 1000;

// The ports with one number and protocol, in their order, indexed by host port and address.
class SamePorts {
 public:
  // Returns the earlier ports that may collide with `port`, in their order.
  std::vector<const SeenPort*> conflicting(const SeenPort& port) const {
    std::vector<std::size_t> found;
    if (port.host_port == 0) {
      for (const auto& [_, addresses] : by_host_port_) take_all(addresses, found);
    } else {
      if (const auto any = by_host_port_.find(0); any != by_host_port_.end()) take_all(any->second, found);
      if (const auto same = by_host_port_.find(port.host_port); same != by_host_port_.end()) take_some(same->second, port.host_ip, found);
    }
    std::sort(found.begin(), found.end());
    std::vector<const SeenPort*> out;
    for (const std::size_t index : found) out.push_back(&ports_[index]);
    return out;
  }
  void add(const SeenPort& port) {
    by_host_port_[port.host_port][port.host_ip].push_back(ports_.size());
    ports_.push_back(port);
  }

 private:
  using Places = std::vector<std::size_t>;
  using ByAddress = std::map<std::string_view, Places>;

  static void take(const Places& places, Places& found) {
    const std::size_t room = kMostWarnings - std::min(kMostWarnings, found.size());
    found.insert(found.end(), places.begin(), places.begin() + static_cast<std::ptrdiff_t>(std::min(room, places.size())));
  }
  static void take_all(const ByAddress& addresses, Places& found) {
    for (auto each = addresses.begin(); each != addresses.end() && found.size() < kMostWarnings; ++each) take(each->second, found);
  }
  // Different addresses do not collide; an empty address collides with every address.
  static void take_some(const ByAddress& addresses, std::string_view address, Places& found) {
    if (address.empty()) return take_all(addresses, found);
    for (const std::string_view wanted : {std::string_view(), address}) {
      if (const auto places = addresses.find(wanted); places != addresses.end()) take(places->second, found);
    }
  }

  std::vector<SeenPort> ports_;
  std::map<std::int64_t, ByAddress> by_host_port_;
};

void warn_of_port_pair(const SeenPort& port, const SeenPort& other, const Path& path, Warnings& out) {
  std::string_view what;
  if (port.host_ip == other.host_ip && port.host_port == other.host_port) {
    what = "duplicate";
  } else if (port.host_port == 0 || other.host_port == 0) {
    what = "overlapping";
  } else if (port.host_port == other.host_port && port.host_ip.empty() != other.host_ip.empty()) {
    what = "dangerously ambiguous";
  }
  if (!what.empty()) out.push_back(port.place.below(path) + ": " + text(what) + " port definition with " + other.place.below(path));
}

// Returns the text with which the Go struct of the port is printed.
std::string print_port(const Object& port) {
  return "{Name:" + text(get_string(port, "name")) + " HostPort:" + std::to_string(get_int(port, "hostPort").value_or(0)) +
         " ContainerPort:" + std::to_string(get_int(port, "containerPort").value_or(0)) +
         " Protocol:" + text(get_string(port, "protocol")) + " HostIP:" + text(get_string(port, "hostIP")) + "}";
}

void warn_of_ports(const Object& pod_spec, const Path& path, Warnings& out) {
  std::map<std::pair<std::int64_t, std::string_view>, SamePorts> seen;  // by number and protocol
  each_port(pod_spec, [&](const Object& port, const PortPlace& place) {
    if (out.size() >= kMostWarnings) return;
    const SeenPort now{place, get_string(port, "hostIP"), get_int(port, "hostPort").value_or(0)};
    if (!now.host_ip.empty() && now.host_port == 0) {
      out.push_back(place.below(path) + ": hostIP set without hostPort: " + print_port(port));
    }
    auto& others = seen[{get_int(port, "containerPort").value_or(0), get_string(port, "protocol")}];
    for (const SeenPort* other : others.conflicting(now)) warn_of_port_pair(now, *other, path, out);
    others.add(now);
  });
  std::map<std::string_view, PortPlace> names;
  each_port(pod_spec, [&](const Object& port, const PortPlace& place) {
    const std::string_view name = get_string(port, "name");
    if (name.empty()) return;
    const auto [first, fresh] = names.emplace(name, place);
    if (fresh) return;
    const std::string other = first->second.below(path);
    out.push_back(place.below(path) + ": duplicate port name " + quoted(name) + " with " + other +
                  ", services and probes that select ports by name will use " + other);
  });
}

void warn_of_pod_affinity(const Object& pod_spec, const Path& path, Warnings& out) {
  const Object& affinity = object_or_empty(pod_spec, "affinity");
  for (std::string_view kind : {"podAffinity", "podAntiAffinity"}) {
    const Object* found = get_object(affinity, kind);
    if (found == nullptr) continue;
    const Path affinity_path = path.at("affinity"), where = affinity_path.at(kind);
    each(*found, kRequired, [&](const Object& term, std::size_t i) {
      const Path item = where.at(kRequired, i);
      if (!has(term, "labelSelector")) out.push_back(item.at("labelSelector") + text(kMatchesNone));
    });
    each(*found, kPreferred, [&](const Object& term, std::size_t i) {
      if (has(object_or_empty(term, "podAffinityTerm"), "labelSelector")) return;
      const Path item = where.at(kPreferred, i);
      out.push_back(item.at("podAffinityTerm.labelSelector") + text(kMatchesNone));
    });
  }
}

void add(Warnings more, Warnings& out) { std::move(more.begin(), more.end(), std::back_inserter(out)); }

void warn_of_addresses(const Object& pod_spec, const Path& path, Warnings& out) {
  if (const Array* servers = get_array(object_or_empty(pod_spec, "dnsConfig"), "nameservers")) {
    for (std::size_t i = 0; i < servers->size(); ++i) add(ip_warnings(path.at("dnsConfig.nameservers", i), text_of((*servers)[i])), out);
  }
  each(pod_spec, "hostAliases", [&](const Object& alias, std::size_t i) {
    const Path item = path.at("hostAliases", i);
    add(ip_warnings(item.at("ip"), get_string(alias, "ip")), out);
  });
}

}  // namespace

Warnings pod_warnings(const Path& path, const Object& pod) {
  Warnings out;
  const Object& pod_spec = object_or_empty(pod, "spec");
  const Object& annotations = object_or_empty(object_or_empty(pod, "metadata"), "annotations");
  const Path spec_path = path.at("spec"), annotations_path = path.at("metadata.annotations");
  warn_of_labels_of_nodes(pod_spec, spec_path, out);
  for (const Deprecated& row : kAnnotations) {
    if (annotations.contains(row.key)) out.push_back(annotations_path.at_key(row.key) + ": " + text(row.message));
  }
  warn_of_volumes(pod_spec, spec_path, out);
  warn_of_overlapping_paths(pod_spec, out);
  warn_of_lists(pod_spec, spec_path, out);
  warn_of_containers(pod_spec, annotations, path, !path.text().empty(), out);
  warn_of_ports(pod_spec, spec_path, out);
  if (get_int(pod_spec, "terminationGracePeriodSeconds").value_or(0) < 0) {
    out.push_back(spec_path.at("terminationGracePeriodSeconds") + ": must be >= 0; negative values are invalid and will be treated as 1");
  }
  warn_of_pod_affinity(pod_spec, spec_path, out);
  warn_of_addresses(pod_spec, spec_path, out);
  return out;
}

bool generation_changed(const Object& object, const Object& old) {
  return get_int_path(object, "metadata.generation") != get_int_path(old, "metadata.generation");
}

Warnings workload_warnings(const Object& object, const Object* old) {
  if (old != nullptr && !generation_changed(object, *old)) return {};
  return pod_warnings("spec.template", object_or_empty(object_or_empty(object, "spec"), "template"));
}

void warn_of_host_name(const Object& object, std::string_view what, Warnings& out) {
  const Problems problems = is_dns1123_label(meta_name(object));
  if (problems.empty()) return;
  std::string list;
  for (const std::string& problem : problems) list += (list.empty() ? "" : " ") + problem;
  out.push_back("metadata.name: this is used in " + text(what) +
                ", which can result in surprising behavior; a DNS label is recommended: [" + list + "]");
}

void warn_of_node_term(const Object& term, bool check_values, const Path& path, Warnings& out) {
  each(term, "matchExpressions", [&](const Object& expression, std::size_t i) {
    const Path item = path.at("matchExpressions", i);
    const std::string key(get_string(expression, "key"));
    if (const Deprecated* row = find_row(kNodeLabels, key)) out.push_back(item.at("key") + ": " + key + " is " + text(row->message));
    const Array* values = check_values ? get_array(expression, "values") : nullptr;
    for (std::size_t v = 0; values != nullptr && v < values->size(); ++v) {
      const std::string_view value = text_of((*values)[v]);
      for (const std::string& problem : is_valid_label_value(value)) {
        out.push_back(item.at("values", v) + ": " + text(value) + " is invalid, " + problem);
      }
    }
  });
}

void warn_of_node_label(std::string_view key, const Path& path, Warnings& out) {
  if (const Deprecated* row = find_row(kNodeLabels, key)) out.push_back(path + (": " + text(row->message)));
}

void warn_of_node_labels(const Object& selector, const Path& path, Warnings& out) {
  warn_of_node_term(selector, false, path, out);
  const Path labels = path.at("matchLabels");
  for (const auto& label : object_or_empty(selector, "matchLabels")) warn_of_node_label(label.key(), labels.at(label.key()), out);
}

void warn_of_fraction(const Object& amounts, std::string_view resource, const Path& path, Warnings& out) {
  const Value* amount = find(amounts, resource);
  if (amount != nullptr && !is_whole_amount(text_of(*amount))) backplane::warn_of_fraction(*amount, path.at_key(resource).text(), out);
}

void warn_of_claim_spec(const Object& claim_spec, const Path& path, Warnings& out) {
  const Object& resources = object_or_empty(claim_spec, "resources");
  const Path resources_path = path.at("resources");
  for (std::string_view list : {"requests", "limits"}) {
    warn_of_fraction(object_or_empty(resources, list), "storage", resources_path.at(list), out);
  }
}

}  // namespace backplane::workload
