#include "routing/api_enablement.hpp"

#include <algorithm>
#include <set>

#include "routing/api_releases.hpp"

namespace backplane {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Returns "/v1" or "/v1/RESOURCE" for the legacy keys of the core group: v1, api/v1 and api/v1/RESOURCE. Other keys are unchanged.
std::string normalize_key(std::string_view key) {
  if (key == "api/v1" || key == "v1" || key == "/v1") return "/v1";
  if (key.starts_with("api/v1/")) return "/v1/" + std::string(key.substr(7));
  if (key.starts_with("v1/")) return "/v1/" + std::string(key.substr(3));
  return std::string(key);
}

bool is_beta(std::string_view version) { return version.find("beta") != std::string_view::npos; }
bool is_alpha(std::string_view version) { return version.find("alpha") != std::string_view::npos; }

std::optional<bool> parse_bool(std::string_view text) {
  static const std::set<std::string_view> yes{"1", "t", "T", "true", "TRUE", "True", ""};
  static const std::set<std::string_view> no{"0", "f", "F", "false", "FALSE", "False"};
  if (yes.count(text)) return true;
  if (no.count(text)) return false;
  return std::nullopt;
}

std::string join(const std::set<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

// The server's API group. --runtime-config=api/all=true does not enable it, because programs that use this flag compare the APIs with those
// of kube-apiserver.
constexpr std::string_view kServerGroup = "plugins.backplane.dev";

std::string version_key(const GroupVersion& version) { return version.group + "/" + version.version; }

}  // namespace

Result<ApiEnablement> ApiEnablement::parse(std::string_view runtime_config, const EmulatedApis& emulated) {
  ApiEnablement out;
  out.emulated_ = emulated;
  std::string problems;
  while (!runtime_config.empty()) {
    const auto comma = runtime_config.find(',');
    const std::string_view item = trim(runtime_config.substr(0, comma));
    runtime_config = comma == std::string_view::npos ? std::string_view{} : runtime_config.substr(comma + 1);
    if (item.empty()) continue;
    const auto equals = item.find('=');
    const std::string key = normalize_key(trim(item.substr(0, equals)));
    const auto value = parse_bool(equals == std::string_view::npos ? std::string_view{} : trim(item.substr(equals + 1)));
    if (key.empty() || !value) {
      problems +=
          (problems.empty() ? "" : "; ") + std::string("--runtime-config: invalid item ") + quoted(item) + ": want KEY=true or KEY=false";
      continue;
    }
    // The key is GROUP/VERSION or GROUP/VERSION/RESOURCE. A subresource is enabled if its resource is.
    const auto slashes = std::count(key.begin(), key.end(), '/');
    if (slashes != 1 && slashes != 2) {
      problems += (problems.empty() ? "" : "; ") + std::string("runtime-config invalid key ") + key;
      continue;
    }
    if (key != "api/legacy") out.items_[key] = *value;
  }
  if (!problems.empty()) return bad_request(problems);
  if (out.items_.size() == 1 && out.items_.count("api/all") && !out.items_.at("api/all")) {
    return bad_request("--runtime-config: invalid key with only api/all=false: it disables every API");
  }
  return out;
}

bool ApiEnablement::version_enabled(const GroupVersion& version) const {
  if (auto it = items_.find(version_key(version)); it != items_.end()) return it->second;
  if (version.group == kServerGroup) return false;
  const char* level = is_alpha(version.version) ? "api/alpha" : is_beta(version.version) ? "api/beta" : "api/ga";
  if (auto it = items_.find(level); it != items_.end()) return it->second;
  if (auto it = items_.find("api/all"); it != items_.end()) return it->second;
  return std::string_view(level) == "api/ga";
}

bool ApiEnablement::configured(const GroupVersionResource& resource) const {
  if (auto it = items_.find(version_key(resource.group_version()) + "/" + resource.resource); it != items_.end()) return it->second;
  return version_enabled(resource.group_version());
}

bool ApiEnablement::named(const std::string& key) const {
  const auto found = items_.find(key);
  return found != items_.end() && found->second;
}

bool ApiEnablement::earlier_version_enabled(const GroupVersionResource& resource) const {
  bool earlier = false;
  for (const ResourceRelease& row : resource_releases()) {
    const GroupVersionResource each{std::string(row.group), std::string(row.version), std::string(row.resource)};
    if (earlier && each.group == resource.group && each.resource == resource.resource && !row.is_alpha() && resource_enabled(each)) {
      return true;
    }
    earlier = earlier || row.is_of(resource);
  }
  return false;
}

bool ApiEnablement::emulated(const GroupVersionResource& resource) const {
  const ResourceRelease* row = release_of(resource);
  if (row == nullptr || row->served_in(emulated_.release)) return true;
  if (row->introduced <= emulated_.release) return false;  // removed before the emulated release
  const std::string version = version_key(resource.group_version());
  return emulated_.runtime_config_forward_compatible && (named(version) || named(version + "/" + resource.resource));
}

bool ApiEnablement::resource_enabled(const GroupVersionResource& resource) const {
  const GroupVersionResource parent{resource.group, resource.version, resource.resource.substr(0, resource.resource.find('/'))};
  const auto item = items_.find(version_key(parent.group_version()) + "/" + parent.resource);
  if (item != items_.end() && !item->second) return false;
  if (emulated(parent)) return configured(parent);
  const ResourceRelease* row = release_of(parent);
  const bool future = emulated_.release < row->introduced;
  return future && emulated_.forward_compatible && earlier_version_enabled(parent);
}

// Returns the error for the first resource or version that the configuration names and that is newer than the emulated release. Returns
// empty text if there is none.
std::string ApiEnablement::too_new(const std::vector<GroupVersionResource>& known_resources) const {
  const std::string advice =
      " the current version " + emulated_.release.to_string() + ". Consider setting --runtime-config-emulation-forward-compatible=true";
  std::map<std::string, bool> all_missing;  // by version: whether all its resources are missing
  for (const auto& resource : known_resources) {
    const bool missing = !emulated(resource) && !resource_enabled(resource);
    const std::string version = version_key(resource.group_version());
    const auto [entry, fresh] = all_missing.emplace(version, missing);
    entry->second = entry->second && missing;
    const ResourceRelease* row = release_of(resource);
    if (!missing || row->introduced <= emulated_.release || !named(version + "/" + resource.resource)) continue;
    return "cannot enable resource " + version + ", Resource=" + resource.resource + " in runtime-config because it is introduced at " +
           row->introduced.to_string() + " after" + advice;
  }
  for (const auto& [version, missing] : all_missing) {
    if (!missing || !named(version)) continue;
    return "cannot enable version " + version + " in runtime-config because all the resources have been introduced after" + advice;
  }
  return {};
}

Status ApiEnablement::check(const std::vector<GroupVersion>& known_versions,
                            const std::vector<GroupVersionResource>& known_resources) const {
  static const std::set<std::string_view> kLevels{"api/all", "api/ga", "api/beta", "api/alpha"};
  std::set<std::string> known;
  std::set<std::string> shown;
  for (const auto& version : known_versions) {
    known.insert(version_key(version));
    shown.insert(version.to_string());
  }
  std::set<std::string> resources;
  for (const auto& resource : known_resources) resources.insert(version_key(resource.group_version()) + "/" + resource.resource);

  std::vector<std::string> problems;
  for (const auto& [key, value] : items_) {
    if (kLevels.count(key) || known.count(key) || resources.count(key)) continue;
    const auto last = key.rfind('/');
    const std::string parent = last == std::string::npos ? "" : key.substr(0, last);
    if (known.count(parent)) {
      std::set<std::string> siblings;
      for (const auto& resource : resources) {
        if (resource.starts_with(parent + "/")) siblings.insert(resource.substr(parent.size() + 1));
      }
      if (siblings.empty()) continue;  // feature gates may have disabled all resources of the version
      problems.push_back("--runtime-config: unknown resource " + quoted(key) + "; " + quoted(parent) + " has: " + join(siblings));
    } else {
      problems.push_back("--runtime-config: unknown api groups " + quoted(key) + "; known: api/all, api/ga, api/beta, api/alpha, " +
                         join(shown));
    }
  }
  if (const std::string problem = too_new(known_resources); !problem.empty()) problems.push_back(problem);
  std::string text;
  for (const std::string& problem : problems) text.append(text.empty() ? "" : "; ").append(problem);
  return text.empty() ? Status() : bad_request(text);
}

}  // namespace backplane
