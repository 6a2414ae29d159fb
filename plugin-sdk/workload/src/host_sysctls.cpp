#include "backplane/workload/host_sysctls.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "backplane/core/json_access.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

constexpr std::array<std::string_view, 10> kIpc = {
    "kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced",
    "kernel.shm", "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg"};

// Returns the sysctl with dots as separators. If the first separator is a slash, exchanges dots and slashes
// ("net/ipv4/conf/eno2.100/rp_filter").
std::string with_dots(std::string_view name) {
  std::string out(name);
  const auto first = name.find_first_of("./");
  if (first == std::string_view::npos || name[first] == '.') return out;
  for (char& c : out) c = c == '.' ? '/' : c == '/' ? '.' : c;
  return out;
}

}  // namespace

void validate_host_sysctls(const Object& pod_spec, const Path& spec_path, FieldErrors& errors) {
  const bool network = get_bool(pod_spec, "hostNetwork").value_or(false), ipc = get_bool(pod_spec, "hostIPC").value_or(false);
  if (!network && !ipc) return;
  const Path path = spec_path.at("securityContext");
  each(object_or_empty(pod_spec, "securityContext"), "sysctls", [&](const Object& sysctl, std::size_t i) {
    const Path item = path.at("sysctls", i);
    const std::string_view sent = get_string(sysctl, "name");
    const std::string name = with_dots(sent);
    const bool of_ipc = std::find(kIpc.begin(), kIpc.end(), name) != kIpc.end() || name.starts_with("fs.mqueue.");
    if (network && name.starts_with("net.")) {
      errors.invalid(item.at("name"), sent, "may not be specified when 'hostNetwork' is true");
    } else if (ipc && of_ipc) {
      errors.invalid(item.at("name"), sent, "may not be specified when 'hostIPC' is true");
    }
  });
}

}  // namespace backplane::workload
