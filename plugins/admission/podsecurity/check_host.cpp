#include <set>

#include "podsecurity/checks.hpp"
#include "podsecurity/pod_reading.hpp"

namespace backplane::admission::podsecurity {

CheckResult host_namespaces(const Object&, const Object& spec) {
  std::vector<std::string> used;
  for (const std::string_view key : {"hostNetwork", "hostPID", "hostIPC"}) {
    if (get_bool(spec, key) == true) used.push_back(std::string(key) + "=true");
  }
  if (used.empty()) return std::nullopt;
  return Finding{"host namespaces", joined(used, ", ")};
}

CheckResult host_path_volumes(const Object&, const Object& spec) {
  Names volumes;
  each(spec, "volumes", [&](const Object& volume, std::size_t) {
    if (has(volume, "hostPath")) volumes.push_back(name_of(volume));
  });
  if (volumes.empty()) return std::nullopt;
  return Finding{"hostPath volumes", pluralize("volume", "volumes", volumes.size()) + " " + join_quoted(volumes)};
}

CheckResult host_ports(const Object&, const Object& spec) {
  NameSet ports;  // sorted as texts
  const Names bad = containers_that(spec, [&](const Object& container) {
    bool found = false;
    each(container, "ports", [&](const Object& port, std::size_t) {
      const auto number = get_int(port, "hostPort").value_or(0);
      if (number == 0) return;
      found = true;
      ports.insert(std::to_string(number));
    });
    return found;
  });
  if (bad.empty()) return std::nullopt;
  return Finding{"hostPort", containers_text(bad) + " " + pluralize("uses", "use", bad.size()) + " " +
                                 pluralize("hostPort", "hostPorts", ports.size()) + " " + joined(Names(ports.begin(), ports.end()), ", ")};
}

CheckResult windows_host_process(const Object&, const Object& spec) {
  const auto sets = [](const Object& owner) {
    return get_bool(object_or_empty(security_context(owner), "windowsOptions"), "hostProcess") == true;
  };
  const std::string setters = setters_text(sets(spec), containers_that(spec, sets));
  if (setters.empty()) return std::nullopt;
  return Finding{"hostProcess", setters + " must not set securityContext.windowsOptions.hostProcess=true"};
}

}  // namespace backplane::admission::podsecurity
