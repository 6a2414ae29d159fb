#include <algorithm>
#include <array>

#include "podsecurity/checks.hpp"
#include "podsecurity/pod_reading.hpp"

namespace backplane::admission::podsecurity {
namespace {

constexpr std::array<std::string_view, 13> kDefaultCapabilities = {"AUDIT_WRITE", "CHOWN",  "DAC_OVERRIDE",     "FOWNER",  "FSETID",
                                                                   "KILL",        "MKNOD",  "NET_BIND_SERVICE", "SETFCAP", "SETGID",
                                                                   "SETPCAP",     "SETUID", "SYS_CHROOT"};

bool is_default(std::string_view capability) {
  return std::find(kDefaultCapabilities.begin(), kDefaultCapabilities.end(), capability) != kDefaultCapabilities.end();
}

const Object& capabilities_of(const Object& container) { return object_or_empty(security_context(container), "capabilities"); }

// The containers that add a capability for which `allowed` is false; those capabilities are added to `forbidden`.
template <class Allowed>
Names adding(const Object& spec, Allowed allowed, NameSet& forbidden) {
  return containers_that(spec, [&](const Object& container) {
    bool found = false;
    each_text(capabilities_of(container), "add", [&](std::string_view capability, std::size_t) {
      if (allowed(capability)) return;
      found = true;
      forbidden.emplace(capability);
    });
    return found;
  });
}

bool drops_all(const Object& container) {
  bool found = false;
  each_text(capabilities_of(container), "drop", [&](std::string_view capability, std::size_t) { found = found || capability == "ALL"; });
  return found;
}

std::string must_not_add(const Names& containers, const NameSet& forbidden) {
  return containers_text(containers) + " must not include " + join_quoted(forbidden) + " in securityContext.capabilities.add";
}

}  // namespace

CheckResult capabilities_baseline(const Object&, const Object& spec) {
  NameSet forbidden;
  const Names bad = adding(spec, is_default, forbidden);
  if (bad.empty()) return std::nullopt;
  return Finding{"non-default capabilities", must_not_add(bad, forbidden)};
}

CheckResult capabilities_restricted_v1_22(const Object&, const Object& spec) {
  const Names missing = containers_that(spec, [](const Object& container) { return !drops_all(container); });
  NameSet forbidden;
  const Names bad = adding(
      spec, [](std::string_view capability) { return capability == "NET_BIND_SERVICE"; }, forbidden);
  std::vector<std::string> details;
  if (!missing.empty()) details.push_back(containers_text(missing) + " must set securityContext.capabilities.drop=[\"ALL\"]");
  if (!bad.empty()) details.push_back(must_not_add(bad, forbidden));
  if (details.empty()) return std::nullopt;
  return Finding{"unrestricted capabilities", joined(details, "; ")};
}

// The check ignores Windows pods, because validation refuses the field in them.
CheckResult capabilities_restricted_v1_25(const Object& metadata, const Object& spec) {
  return is_windows(spec) ? std::nullopt : capabilities_restricted_v1_22(metadata, spec);
}

}  // namespace backplane::admission::podsecurity
