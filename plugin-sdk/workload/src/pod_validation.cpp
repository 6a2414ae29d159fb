// Rules for the pod spec as a whole and for scheduling, and helpers that the other files use.
#include "backplane/workload/pod_validation.hpp"

#include <algorithm>
#include <map>

#include "backplane/core/json_access.hpp"
#include "backplane/core/selectors.hpp"
#include "backplane/types/ip_addresses.hpp"
#include "backplane/types/names.hpp"
#include "backplane/workload/host_sysctls.hpp"
#include "backplane/workload/pod_annotations.hpp"
#include "backplane/workload/resources.hpp"
#include "pod_parts.hpp"

namespace backplane::workload {

using namespace kit;

namespace {

std::vector<std::string_view> texts(const Object& parent, std::string_view key) {
  std::vector<std::string_view> out;
  if (const Array* list = get_array(parent, key)) {
    for (const Value& item : *list) out.push_back(text_of(item));
  }
  return out;
}

// Returns "{zone, DoNotSchedule}". If two constraints have the same key, upstream reports the error for the first one.
std::string spread_key(const Object& constraint) {
  return "{" + std::string(get_string(constraint, "topologyKey")) + ", " + std::string(get_string(constraint, "whenUnsatisfiable")) + "}";
}

// Upstream adds the pod's labels to the selector as expressions, so a key that the selector had before occurs twice.
void validate_spread(const Object& pod_spec, const Path& path, const PodValidationOptions& options, FieldErrors& errors) {
  std::map<std::string, std::size_t> last;
  each(pod_spec, "topologySpreadConstraints", [&](const Object& constraint, std::size_t i) { last[spread_key(constraint)] = i; });
  each(pod_spec, "topologySpreadConstraints", [&](const Object& constraint, std::size_t i) {
    const Path item = path.at("topologySpreadConstraints", i);
    const std::string when(get_string(constraint, "whenUnsatisfiable"));
    const std::string key = spread_key(constraint);
    if (last[key] > i) errors.duplicate(item.at("{topologyKey, whenUnsatisfiable}"), key);
    if (const auto domains = get_int(constraint, "minDomains"); domains && when != "DoNotSchedule") {
      errors.invalid(item.at("minDomains"), static_cast<long long>(*domains),
                     "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not " + when);
    }
    if (!texts(constraint, "matchLabelKeys").empty() && !has(constraint, "labelSelector")) {
      errors.forbidden(item.at("matchLabelKeys"), "must not be specified when labelSelector is not set");
    }
    if (!options.spread_keys_twice) validate_spread_keys(constraint, item, errors);
  });
}

// Checks matchLabelKeys or mismatchLabelKeys (`member`) of a term: they contain label keys, and require a selector.
void validate_label_keys(const Object& term, std::string_view member, const Path& path, FieldErrors& errors) {
  const auto keys = texts(term, member);
  const Path list = path.at(member);
  if (keys.empty()) return;
  if (!has(term, "labelSelector")) return errors.forbidden(list, "must not be specified when labelSelector is not set");
  for (std::size_t i = 0; i < keys.size(); ++i) add_problems(is_qualified_name(keys[i]), list.at(i), keys[i], errors);
}

void validate_affinity_term(const Object& term, const Path& path, FieldErrors& errors) {
  validate_label_keys(term, "matchLabelKeys", path, errors);
  validate_label_keys(term, "mismatchLabelKeys", path, errors);
  validate_spread_keys(term, path, errors);
  const auto matched = texts(term, "matchLabelKeys"), mismatched = texts(term, "mismatchLabelKeys");
  const std::set<std::string_view> others(mismatched.begin(), mismatched.end());
  const Path list = path.at("matchLabelKeys");
  for (std::size_t i = 0; i < matched.size(); ++i) {
    if (others.contains(matched[i])) errors.invalid(list.at(i), matched[i], "exists in both matchLabelKeys and mismatchLabelKeys");
  }
}

void validate_affinity_keys(const Object& pod_spec, const Path& path, FieldErrors& errors) {
  const Path affinity_path = path.at("affinity");
  for (std::string_view kind : {"podAffinity", "podAntiAffinity"}) {
    const Object& affinity = object_or_empty(object_or_empty(pod_spec, "affinity"), kind);
    const Path kind_path = affinity_path.at(kind);
    each(affinity, "requiredDuringSchedulingIgnoredDuringExecution", [&](const Object& term, std::size_t i) {
      validate_affinity_term(term, kind_path.at("requiredDuringSchedulingIgnoredDuringExecution", i), errors);
    });
    each(affinity, "preferredDuringSchedulingIgnoredDuringExecution", [&](const Object& preferred, std::size_t i) {
      const Path item = kind_path.at("preferredDuringSchedulingIgnoredDuringExecution", i);
      validate_affinity_term(object_or_empty(preferred, "podAffinityTerm"), item.at("podAffinityTerm"), errors);
    });
  }
}

constexpr std::size_t kMaxSysctlName = 253;
constexpr std::string_view kSysctlText =
    "must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";

// True for words of lower-case letters, digits, - and _, with dots or slashes between the words. A word does not begin or end with - or _.
bool is_sysctl_name(std::string_view name) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (name.empty() || name.size() > kMaxSysctlName || !plain(name.front()) || !plain(name.back())) return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool between = name[i] == '.' || name[i] == '/';
    if (between ? !plain(name[i - 1]) || !plain(name[i + 1]) : !plain(name[i]) && name[i] != '-' && name[i] != '_') return false;
  }
  return true;
}

void validate_security_context(const Object& pod_spec, const Path& spec_path, FieldErrors& errors) {
  const Object* security = get_object(pod_spec, "securityContext");
  if (security == nullptr) return;
  const Path path = spec_path.at("securityContext");
  std::set<std::string> names;
  each(*security, "sysctls", [&](const Object& sysctl, std::size_t i) {
    const std::string name(get_string(sysctl, "name"));
    const Path sysctl_path = path.at("sysctls", i), item = sysctl_path.at("name");
    if (name.empty()) {
      errors.required(item);
    } else if (!is_sysctl_name(name)) {
      errors.invalid(item, name, kSysctlText);
    } else if (!names.insert(name).second) {
      errors.duplicate(item, name);
    }
  });
}

constexpr std::string_view kSearchText =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";

constexpr std::size_t kMaxSubdomain = 253;

std::string_view without_root(std::string_view domain) { return domain.substr(0, domain.size() - domain.ends_with('.')); }

// True for a subdomain whose labels may contain underscores and have any length.
bool is_search_domain(std::string_view text) {
  std::string plain(text);
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (plain[i] != '_') continue;
    const bool first = i == 0 || plain[i - 1] == '.';
    plain[i] = first ? 'a' : '-';
  }
  return is_dns1123_subdomain(plain).size() == (plain.size() > kMaxSubdomain ? 1 : 0);
}

constexpr std::size_t kMaxNameservers = 3;
constexpr std::size_t kMaxSearches = 32;
constexpr std::size_t kMaxSearchBytes = 2048;

void validate_dns_amounts(const Object& config, const std::vector<std::string_view>& searches, const Path& path, FieldErrors& errors) {
  const auto add_error = [&](std::string_view list, const std::string& what) {
    errors.invalid_raw(path.at(list), to_json(config.at(list)), "must not have more than " + what);
  };
  if (count_of(config, "nameservers") > kMaxNameservers) add_error("nameservers", std::to_string(kMaxNameservers) + " nameservers");
  if (searches.size() > kMaxSearches) add_error("searches", std::to_string(kMaxSearches) + " search paths");
  std::size_t bytes = searches.empty() ? 0 : searches.size() - 1;
  for (const std::string_view search : searches) bytes += search.size();
  if (bytes > kMaxSearchBytes) add_error("searches", std::to_string(kMaxSearchBytes) + " characters (including spaces) in the search list");
}

void validate_dns(const Object& pod_spec, const Path& path, FieldErrors& errors) {
  const std::string_view policy = get_string(pod_spec, "dnsPolicy");
  const Object* config = get_object(pod_spec, "dnsConfig");
  const Path where = path.at("dnsConfig");
  if (policy == "None") {
    if (config == nullptr) {
      errors.required(where, "must provide `dnsConfig` when `dnsPolicy` is None");
      return;
    }
    if (texts(*config, "nameservers").empty()) {
      errors.required(where.at("nameservers"), "must provide at least one DNS nameserver when `dnsPolicy` is None");
    }
  }
  if (config == nullptr) return;
  const auto searches = texts(*config, "searches");
  validate_dns_amounts(*config, searches, where, errors);
  for (std::size_t i = 0; i < searches.size(); ++i) {
    if (searches[i] == ".") continue;
    const std::string_view search = without_root(searches[i]);
    const Path item = where.at("searches", i);
    if (search.size() > kMaxSubdomain) errors.invalid(item, search, "must be no more than 253 characters");
    if (!is_search_domain(search)) errors.invalid(item, search, kSearchText);
  }
}

// Checks that a pod with projected tokens has a service account. It is called for pods only: a pod from a template gets its account when it
// is created.
void validate_tokens_have_account(const Object& pod_spec, const Path& path, FieldErrors& errors) {
  if (!get_string(pod_spec, "serviceAccountName").empty()) return;
  each(pod_spec, "volumes", [&](const Object& volume, std::size_t v) {
    each(object_or_empty(volume, "projected"), "sources", [&](const Object& source, std::size_t s) {
      if (!has(source, "serviceAccountToken")) return;
      const Path volume_path = path.at("volumes", v), item = volume_path.at("projected.sources", s);
      errors.forbidden(item.at("serviceAccountToken"), "must not be specified when serviceAccountName is not set");
    });
  });
}

// Checks rules that apply to pods but not to templates.
void validate_pod_only(const Object& pod_spec, const Path& path, FieldErrors& errors) {
  validate_tokens_have_account(pod_spec, path, errors);
  for (std::string_view list : {"containers", "initContainers"}) {
    each(pod_spec, list, [&](const Object& container, std::size_t i) { validate_image_ends(container, path.at(list, i), errors); });
  }
}

}  // namespace

void validate_spread_keys(const Object& constraint, const Path& path, FieldErrors& errors) {
  const Object* selector = get_object(constraint, "labelSelector");
  if (selector == nullptr) return;
  std::map<std::string_view, std::size_t> keys;
  const auto listed = texts(constraint, "matchLabelKeys");
  for (std::size_t i = 0; i < listed.size(); ++i) keys[listed[i]] = i;
  std::set<std::string_view> seen;
  for (const auto& label : object_or_empty(*selector, "matchLabels")) seen.insert(label.key());
  each(*selector, "matchExpressions", [&](const Object& expression, std::size_t) {
    const std::string_view key = get_string(expression, "key");
    const auto found = keys.find(key);
    if (found != keys.end() && seen.contains(key)) {
      errors.invalid(path.at(found->second), key, "exists in both matchLabelKeys and labelSelector");
    }
    seen.insert(key);
  });
}

void check_at(ObjectRules rules, const Object& object, const Path& path, FieldErrors& errors) {
  if (object.empty()) return;
  FieldErrors found;
  rules(object, {}, found);
  if (!found.empty()) rules(object, path, errors);
}

void add_problems(const std::vector<std::string>& problems, const Path& path, std::string_view value, FieldErrors& errors) {
  for (const std::string& problem : problems) errors.invalid(path, value, problem);
}

void check_one_of(const Object& parent, std::string_view key, const Path& path, const std::vector<std::string>& supported,
                  FieldErrors& errors) {
  const Value* value = find(parent, key);
  if (value == nullptr || !value->is_string()) return;
  const std::string_view text = text_of(*value);
  if (std::find(supported.begin(), supported.end(), text) == supported.end()) {
    std::string names;
    for (const std::string& each : supported) names.append(names.empty() ? "" : ", ").append(quoted(each));
    // The text belongs to a named Go type, which upstream prints as JSON.
    errors.add({FieldErrorType::kNotSupported, path.at(key), "Unsupported value: " + to_json(*value) + ": supported values: " + names});
  }
}

PodValidationOptions pod_validation_options(const Host& host) {
  PodValidationOptions options;
  options.allow_privileged = host.flag("allow-privileged") == std::optional<std::string>("true");
  return options;
}

void validate_pod_spec(const Object& pod_spec, const Path& path, std::string_view pod_name, const PodValidationOptions& options,
                       FieldErrors& errors) {
  const auto volumes = validate_volumes(pod_spec, path, pod_name, options, errors);
  validate_containers(pod_spec, path, volumes, options, errors);
  validate_dns(pod_spec, path, errors);
  check_at(validate_labels, object_or_empty(pod_spec, "nodeSelector"), path.at("nodeSelector"), errors);
  validate_security_context(pod_spec, path, errors);
  validate_pod_security(pod_spec, path, options, errors);
  validate_spread(pod_spec, path, options, errors);
  validate_affinity_keys(pod_spec, path, errors);
  if (const Object* overhead = get_object(pod_spec, "overhead")) {
    Object limits;
    limits["limits"] = *overhead;
    validate_resource_requirements(limits, path.at("overhead"), errors, options.parts_of_pages);
  }
  if (!pod_name.empty()) validate_pod_only(pod_spec, path, errors);
}

void validate_pod_template(const Object& pod_template, const Path& path, const PodValidationOptions& options, FieldErrors& errors) {
  const Object& metadata = object_or_empty(pod_template, "metadata");
  check_at(validate_labels, object_or_empty(metadata, "labels"), path.at("labels"), errors);
  check_at(validate_annotations, object_or_empty(metadata, "annotations"), path.at("annotations"), errors);
  const Object& pod_spec = object_or_empty(pod_template, "spec");
  const Object& annotations = object_or_empty(metadata, "annotations");
  const Path spec_path = path.at("spec");
  validate_pod_annotations(annotations, pod_spec, path.at("annotations"), nullptr, errors);
  validate_pod_spec(pod_spec, spec_path, "", options, errors);
  validate_host_sysctls(pod_spec, spec_path, errors);
  validate_twofold_profiles(annotations, pod_spec, spec_path, errors);
  const Array* ephemeral = get_array(pod_spec, "ephemeralContainers");
  if (ephemeral != nullptr && !ephemeral->empty()) {
    errors.forbidden(spec_path.at("ephemeralContainers"), "ephemeral containers not allowed in pod template");
  }
}

}  // namespace backplane::workload
