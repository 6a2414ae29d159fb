#include "app/unsupported_flags.hpp"

#include <algorithm>
#include <array>

#include "admission/plugin_order.hpp"
#include "security/authorization.hpp"

namespace backplane {
namespace {

struct UnsupportedFlags {
  std::string_view flags[4];  // a name that ends in '*' is a prefix
  std::string_view missing;
};

constexpr std::string_view kEtcdBackend = "etcd3";
constexpr UnsupportedFlags kEtcdFlags = {{"etcd-servers", "etcd-cafile", "etcd-certfile", "etcd-keyfile"},
                                         "--storage-backend is not etcd3"};
constexpr UnsupportedFlags kEtcdPrefix = {{"etcd-prefix"}, "only etcd3 supports another prefix than /registry"};
constexpr UnsupportedFlags kEtcdOverrides = {{"etcd-servers-overrides"}, "only etcd3 supports several stores"};

bool has(const std::vector<std::string>& list, std::string_view name) { return std::find(list.begin(), list.end(), name) != list.end(); }

bool fits(std::string_view pattern, std::string_view flag) {
  return pattern.ends_with('*') ? flag.starts_with(pattern.substr(0, pattern.size() - 1)) : flag == pattern;
}

std::string join(const std::vector<std::string>& items, std::string_view separator) {
  std::string out;
  for (const auto& item : items) out.append(out.empty() ? "" : separator).append(item);
  return out;
}

void check_admission_names(const AdmissionOptions& admission, const Offers& offers, Problems& problems) {
  const std::pair<std::string_view, const std::vector<std::string>&> flags[] = {{"enable-admission-plugins", admission.enable},
                                                                                {"disable-admission-plugins", admission.disable}};
  for (const auto& [flag, names] : flags) {
    if (!offers.idle_plugins.empty()) break;
    for (const auto& name : names) {
      if (has(offers.admission, name) || find_upstream_admission_plugin(name) != nullptr) continue;
      problems.push_back("--" + std::string(flag) + ": unknown admission plugin " + backplane::quoted(name));
    }
  }
  std::vector<std::string> both;
  std::copy_if(admission.enable.begin(), admission.enable.end(), std::back_inserter(both),
               [&](const std::string& name) { return has(admission.disable, name); });
  if (both.empty()) return;
  problems.push_back("--enable-admission-plugins and --disable-admission-plugins both name " + join(both, ", ") +
                     "; remove it from one of them");
}

// Adds a text for the values `missing` of a flag: `--authorization-mode=Node,RBAC (no loaded plugin offers them)` if these are all values,
// otherwise `RBAC of --authorization-mode (…)`.
void add_missing(std::vector<std::string>& broken, std::string_view flag, std::size_t given, const std::vector<std::string>& missing,
                 std::string_view without) {
  if (missing.empty()) return;
  const std::string names = join(missing, ",");
  const std::string head = missing.size() == given ? "--" + std::string(flag) + "=" + names : names + " of --" + std::string(flag);
  broken.push_back(head + " (no loaded plugin offers " + (missing.size() == 1 ? "it" : "them") + std::string(without) + ")");
}

std::vector<std::string> missing_modes(const AuthorizationOptions& authorization, const Offers& offers) {
  std::vector<std::string> missing;
  for (const auto& mode : authorization.modes) {
    const bool built_in = mode == "AlwaysAllow" || mode == "AlwaysDeny";
    if (is_authorization_mode(mode) && !built_in && !has(offers.authorizers, mode)) missing.push_back(mode);
  }
  return missing;
}

// An admission plugin that the flag names must run, whether kube-apiserver enables it by default or not.
std::vector<std::string> missing_admission(const AdmissionOptions& admission, const Offers& offers) {
  std::vector<std::string> missing;
  for (const auto& name : admission.enable) {
    if (find_upstream_admission_plugin(name) != nullptr && !has(offers.admission, name)) missing.push_back(name);
  }
  return missing;
}

// The flags that the patterns of the row match, in the order of the patterns.
std::vector<std::string> flags_of(const FlagSet& flags, const UnsupportedFlags& row) {
  std::vector<std::string> names;
  const auto texts = flags.texts();
  for (const std::string_view pattern : row.flags) {
    for (const auto& [name, _] : texts) {
      if (fits(pattern, name)) names.push_back(name);
    }
  }
  return names;
}

// The flags of the row that are set to a value other than their default.
std::vector<std::string> given_flags(const FlagSet& flags, const UnsupportedFlags& row) {
  std::vector<std::string> given;
  for (const auto& name : flags_of(flags, row)) {
    if (!flags.has_default(name)) given.push_back("--" + name);
  }
  return given;
}

}  // namespace

void check_unsupported_flags(const Options& options, const Offers& offers, Problems& problems) {
  check_admission_names(options.admission, offers, problems);
  const std::string& backend = options.storage.backend;
  if (!has(offers.storage_backends, backend)) {
    problems.push_back("--storage-backend=" + backend +
                       ": no loaded plugin has this backend; available: " + join(offers.storage_backends, ", "));
  }
  std::vector<std::string> broken;
  add_missing(broken, "authorization-mode", options.authorization.modes.size(), missing_modes(options.authorization, offers),
              "; without the flag the order is Node,RBAC");
  add_missing(broken, options.admission.only.empty() ? "enable-admission-plugins" : "admission-control", options.admission.enable.size(),
              missing_admission(options.admission, offers), "");
  const auto add_broken = [&](const UnsupportedFlags& row) {
    const auto given = given_flags(options.flags, row);
    if (!given.empty()) broken.push_back(join(given, ", ") + " (" + std::string(row.missing) + ")");
  };
  if (backend != kEtcdBackend && options.storage.embedded_dir.empty()) {
    for (const UnsupportedFlags* row : {&kEtcdFlags, &kEtcdPrefix, &kEtcdOverrides}) add_broken(*row);
  }
  if (broken.empty()) return;
  problems.push_back("these flags are not supported; remove them: " + join(broken, "; "));
}

}  // namespace backplane
