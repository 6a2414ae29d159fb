#include <algorithm>
#include <set>

#include "backplane/core/json_access.hpp"
#include "backplane/types/base64.hpp"
#include "backplane/types/url.hpp"
#include "configuration/configuration.hpp"

namespace backplane::encryption {
namespace {

constexpr std::string_view kRedacted = "REDACTED";

std::string json_list(const std::vector<std::string>& texts) {
  Array list;
  for (const std::string& text : texts) list.emplace_back(text);
  return json::serialize(list);
}

bool is_any(const GroupResource& resource) { return resource.group == "*" && resource.resource == "*"; }
bool is_same(const GroupResource& a, const GroupResource& b) { return a.group == b.group && a.resource == b.resource; }

// ---- resources

void check_overlap(const std::vector<std::string>& texts, const std::string& path, FieldErrors& errors) {
  std::vector<GroupResource> resources;
  for (const std::string& text : texts) resources.push_back(parse_group_resource(text));
  bool overlap = false, duplicate = false;
  for (std::size_t i = 0; i < resources.size(); ++i) {
    for (std::size_t j = 0; j < resources.size(); ++j) {
      const GroupResource &a = resources[i], &b = resources[j];
      if (i == j) continue;
      if (is_same(a, b) && !duplicate) {
        duplicate = true;
        continue;
      }
      const bool masks = a.group == b.group && (a.resource == "*" || b.resource == "*");
      overlap = overlap || is_any(a) || masks;
    }
  }
  if (duplicate) errors.invalid_raw(path, json_list(texts), "the same resource cannot be specified multiple times");
  if (overlap) {
    errors.invalid_raw(
        path, json_list(texts),
        "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked");
  }
}

std::string_view name_problem(const std::string& name) {
  if (lower_case(name) != name) return "resource name should not contain capital letters";
  if (name == "*") return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources";
  if (name == "apiserveripinfo" || name == "serviceipallocations" || name == "servicenodeportallocations") {
    return "resources which do not have REST API/s cannot be encrypted";
  }
  const GroupResource resource = parse_group_resource(name);
  if (resource.group == "events.k8s.io") {
    return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file";
  }
  if (resource.group == "extensions") return "'extensions' group has been removed and cannot be used for encryption";
  if (resource.group == "*" && resource.resource != "*") return "encrypting the same resource across groups is not supported";
  return {};
}

void check_resources(const std::vector<std::string>& resources, const std::string& path, FieldErrors& errors) {
  if (resources.empty()) errors.required(path, "at least one " + path + " is required");
  check_overlap(resources, path, errors);
  for (std::size_t i = 0; i < resources.size(); ++i) {
    if (const std::string_view problem = name_problem(resources[i]); !problem.empty()) errors.invalid(at(path, i), resources[i], problem);
  }
}

// ---- keys

std::string printed(const std::vector<std::size_t>& sizes) {
  std::string out;
  for (const std::size_t size : sizes) out.append(out.empty() ? "[" : " ").append(std::to_string(size));
  return out + "]";
}

void check_key(const KeyConfiguration& key, const std::string& path, const std::vector<std::size_t>& sizes, FieldErrors& errors) {
  const std::string secret = at(path, "secret");
  if (key.name.empty()) errors.required(at(path, "name"), "name is a mandatory field for a key");
  if (key.secret.size() == 0) return errors.required(secret, "secret is a mandatory field for a key");
  auto bytes = from_base64(key.secret.view());
  if (!bytes) return errors.invalid(secret, kRedacted, "secrets must be base64 encoded");
  if (std::find(sizes.begin(), sizes.end(), bytes->size()) == sizes.end()) {
    errors.invalid(secret, kRedacted,
                   "secret is not of the expected length, got " + std::to_string(bytes->size()) + ", expected one of " + printed(sizes));
  }
  OPENSSL_cleanse(bytes->data(), bytes->size());
}

void check_keys(const std::vector<KeyConfiguration>& keys, const std::string& path, const std::vector<std::size_t>& sizes,
                FieldErrors& errors) {
  if (keys.empty()) errors.required(path, "at least one keys is required");
  for (std::size_t i = 0; i < keys.size(); ++i) check_key(keys[i], at(path, i), sizes, errors);
}

// ---- KMS plugins

void check_endpoint(const std::string& endpoint, const std::string& path, FieldErrors& errors) {
  if (endpoint.empty()) return errors.invalid(path, "", "endpoint is a mandatory field for a kms");
  if (const std::string problem = url_problem(endpoint); !problem.empty()) {
    return errors.invalid(path, endpoint, "invalid endpoint for kms provider, error: " + problem);
  }
  const std::size_t colon = endpoint.find(':');
  const std::string scheme = colon == std::string::npos ? std::string() : lower_case(endpoint.substr(0, colon));
  if (scheme != "unix") {
    errors.invalid(path, endpoint, "unsupported scheme " + backplane::quoted(scheme) + " for KMS provider, only unix is supported");
  }
}

void check_kms(const KmsConfiguration& kms, const std::string& path, const std::set<std::string>& names, bool reload, FieldErrors& errors) {
  const bool v1 = kms.api_version == "v1";
  if (kms.name.empty()) errors.required(at(path, "name"), "name is a mandatory field for a provider");
  if (!v1 && kms.name.find(':') != std::string::npos) {
    errors.invalid(at(path, "name"), kms.name, "invalid KMS provider name " + kms.name + ", must not contain ':'");
  }
  if ((reload || !v1) && names.contains(kms.name)) {
    errors.invalid(at(path, "name"), kms.name, "duplicate KMS provider name " + kms.name + ", names must be unique");
  }
  if (kms.timeout <= std::chrono::nanoseconds::zero()) {
    errors.invalid(at(path, "timeout"), kms.timeout_text, "timeout should be a positive value");
  }
  check_endpoint(kms.endpoint, at(path, "endpoint"), errors);
  if (!v1 && kms.cache_size) errors.invalid(at(path, "cachesize"), *kms.cache_size, "cachesize is not supported in v2");
  if (v1 && kms.cache_size == 0) {
    errors.invalid(at(path, "cachesize"), 0LL, "cachesize should be a positive value, or negative to disable");
  }
  if (!v1 && kms.api_version != "v2") {
    errors.invalid(at(path, "apiVersion"), kms.api_version,
                   "unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported");
  }
}

// ---- providers

Value shown(const std::optional<std::vector<KeyConfiguration>>& keys) {
  if (!keys) return nullptr;
  Array list;
  for (const KeyConfiguration& key : *keys) list.push_back(Object{{"Name", key.name}, {"Secret", "[REDACTED]"}});
  return Object{{"Keys", list.empty() ? Value(nullptr) : Value(std::move(list))}};
}

Value shown(const std::optional<KmsConfiguration>& kms) {
  if (!kms) return nullptr;
  return Object{{"APIVersion", kms->api_version},
                {"Name", kms->name},
                {"CacheSize", kms->cache_size ? Value(*kms->cache_size) : Value(nullptr)},
                {"Endpoint", kms->endpoint},
                {"Timeout", kms->timeout_text}};
}

// Formats the provider like upstream prints the struct, without secrets.
std::string shown(const ProviderConfiguration& provider) {
  return json::serialize(Object{{"AESGCM", shown(provider.aes_gcm)},
                                {"AESCBC", shown(provider.aes_cbc)},
                                {"Secretbox", shown(provider.secretbox)},
                                {"Identity", provider.identity ? Value(Object()) : Value(nullptr)},
                                {"KMS", shown(provider.kms)}});
}

void check_single(const ProviderConfiguration& provider, const std::string& path, FieldErrors& errors) {
  const int found = static_cast<int>(provider.aes_gcm.has_value()) + static_cast<int>(provider.aes_cbc.has_value()) +
                    static_cast<int>(provider.secretbox.has_value()) + static_cast<int>(provider.identity) +
                    static_cast<int>(provider.kms.has_value());
  if (found == 0) {
    errors.invalid_raw(path, shown(provider),
                       "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity");
  } else if (found > 1) {
    errors.invalid_raw(path, shown(provider),
                       "more than one provider specified in a single element, should split into different list elements");
  }
}

void check_provider(const ProviderConfiguration& provider, const std::string& path, std::set<std::string>& names, bool reload,
                    FieldErrors& errors) {
  const std::vector<std::size_t> aes_sizes = {16, 24, 32}, secretbox_sizes = {32};
  check_single(provider, path, errors);
  if (provider.kms) {
    check_kms(*provider.kms, at(path, "kms"), names, reload, errors);
    names.insert(provider.kms->name);
  } else if (provider.aes_gcm) {
    check_keys(*provider.aes_gcm, at(path, "aesgcm.keys"), aes_sizes, errors);
  } else if (provider.aes_cbc) {
    check_keys(*provider.aes_cbc, at(path, "aescbc.keys"), aes_sizes, errors);
  } else if (provider.secretbox) {
    check_keys(*provider.secretbox, at(path, "secretbox.keys"), secretbox_sizes, errors);
  }
}

}  // namespace

FieldErrors validate_configuration(const Configuration& configuration, bool reload) {
  FieldErrors errors;
  const std::string root = "resources";
  if (configuration.resources.empty()) errors.required(root, "at least one resources is required");
  std::set<std::string> kms_names;
  for (std::size_t i = 0; i < configuration.resources.size(); ++i) {
    const ResourceConfiguration& entry = configuration.resources[i];
    check_resources(entry.resources, at(at(root, i), "resources"), errors);
    const std::string providers = at(at(root, i), "providers");
    if (entry.providers.empty()) errors.required(providers, "at least one " + providers + " is required");
    for (std::size_t j = 0; j < entry.providers.size(); ++j)
      check_provider(entry.providers[j], at(providers, j), kms_names, reload, errors);
  }
  return errors;
}

}  // namespace backplane::encryption
