#include <algorithm>
#include <array>
#include <span>

#include "podsecurity/checks.hpp"
#include "podsecurity/pod_reading.hpp"

namespace backplane::admission::podsecurity {
namespace {

using Allowed = std::span<const std::string_view>;

bool contains(Allowed allowed, std::string_view text) { return std::find(allowed.begin(), allowed.end(), text) != allowed.end(); }

// ---- SELinux. Each list begins with the values that older versions of the policy allow.
constexpr std::array<std::string_view, 5> kSelinuxTypes = {"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"};
constexpr std::size_t kSelinuxTypesV1_0 = 4;

struct SelinuxFindings {
  NameSet types;
  bool user = false, role = false;
};

// Whether the options of a pod or a container are forbidden; adds the reasons to `found`.
bool add_selinux(const Object& owner, Allowed types, SelinuxFindings& found) {
  const Object* options = get_object(security_context(owner), "seLinuxOptions");
  if (options == nullptr) return false;
  const std::string_view type = get_string(*options, "type");
  const bool bad_type = !contains(types, type), user = !get_string(*options, "user").empty(), role = !get_string(*options, "role").empty();
  if (bad_type) found.types.emplace(type);
  found.user = found.user || user;
  found.role = found.role || role;
  return bad_type || user || role;
}

CheckResult check_selinux(const Object& spec, Allowed types) {
  SelinuxFindings found;
  const bool pod = add_selinux(spec, types, found);
  const std::string setters =
      setters_text(pod, containers_that(spec, [&](const Object& container) { return add_selinux(container, types, found); }));
  if (setters.empty()) return std::nullopt;
  std::vector<std::string> what;
  if (!found.types.empty()) what.push_back(pluralize("type", "types", found.types.size()) + " " + join_quoted(found.types));
  if (found.user) what.emplace_back("user may not be set");
  if (found.role) what.emplace_back("role may not be set");
  return Finding{"seLinuxOptions", setters + " set forbidden securityContext.seLinuxOptions: " + joined(what, "; ")};
}

// ---- sysctls. Each version of the policy also allows the sysctls of the older versions.
constexpr std::array<std::string_view, 12> kSysctls = {
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.ping_group_range",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
};
constexpr std::size_t kSysctlsV1_0 = 5, kSysctlsV1_27 = 6, kSysctlsV1_29 = 10;

CheckResult check_sysctls(const Object& spec, Allowed allowed) {
  std::vector<std::string> forbidden;
  each(security_context(spec), "sysctls", [&](const Object& sysctl, std::size_t) {
    if (!contains(allowed, get_string(sysctl, "name"))) forbidden.push_back(name_of(sysctl));
  });
  if (forbidden.empty()) return std::nullopt;
  return Finding{"forbidden sysctls", joined(forbidden, ", ")};
}

}  // namespace

CheckResult selinux_options(const Object&, const Object& spec) {
  return check_selinux(spec, Allowed(kSelinuxTypes).first(kSelinuxTypesV1_0));
}
CheckResult selinux_options_v1_31(const Object&, const Object& spec) { return check_selinux(spec, kSelinuxTypes); }

CheckResult sysctls(const Object&, const Object& spec) { return check_sysctls(spec, Allowed(kSysctls).first(kSysctlsV1_0)); }
CheckResult sysctls_v1_27(const Object&, const Object& spec) { return check_sysctls(spec, Allowed(kSysctls).first(kSysctlsV1_27)); }
CheckResult sysctls_v1_29(const Object&, const Object& spec) { return check_sysctls(spec, Allowed(kSysctls).first(kSysctlsV1_29)); }
CheckResult sysctls_v1_32(const Object&, const Object& spec) { return check_sysctls(spec, kSysctls); }

}  // namespace backplane::admission::podsecurity
