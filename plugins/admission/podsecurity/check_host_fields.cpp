#include "podsecurity/checks.hpp"
#include "podsecurity/pod_reading.hpp"

namespace backplane::admission::podsecurity {
namespace {

// Hosts of the HTTP and TCP actions of a probe or a lifecycle handler.
void add_hosts(const Object& handler, NameSet& hosts) {
  for (const std::string_view action : {"httpGet", "tcpSocket"}) {
    const std::string_view host = get_string(object_or_empty(handler, action), "host");
    if (!host.empty()) hosts.emplace(host);
  }
}

NameSet hosts_of(const Object& container) {
  NameSet hosts;
  for (const std::string_view probe : {"livenessProbe", "readinessProbe", "startupProbe"})
    add_hosts(object_or_empty(container, probe), hosts);
  const Object& lifecycle = object_or_empty(container, "lifecycle");
  for (const std::string_view handler : {"postStart", "preStop"}) add_hosts(object_or_empty(lifecycle, handler), hosts);
  return hosts;
}

}  // namespace

CheckResult host_probes_and_lifecycle_v1_34(const Object&, const Object& spec) {
  NameSet bad, hosts;
  each_container(spec, [&](const Object& container) {
    NameSet found = hosts_of(container);
    if (!found.empty()) bad.insert(name_of(container));
    hosts.merge(found);
  });
  if (bad.empty()) return std::nullopt;
  return Finding{"probe or lifecycle host", containers_text(Names(bad.begin(), bad.end())) + " " + pluralize("uses", "use", bad.size()) +
                                                " " + pluralize("probe or lifecycle host", "probe or lifecycle hosts", hosts.size()) + " " +
                                                join_quoted(hosts)};
}

}  // namespace backplane::admission::podsecurity
