#include "configuration/configuration.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/kit/config_document.hpp"
#include "backplane/types/durations.hpp"
#include "encryption_configuration_json.hpp"

namespace backplane::encryption {
namespace {

std::optional<std::vector<KeyConfiguration>> keys_of(const Object& provider, std::string_view member) {
  const Object* algorithm = get_object(provider, member);
  if (algorithm == nullptr) return std::nullopt;
  std::vector<KeyConfiguration> keys;
  each(*algorithm, "keys", [&](const Object& key, std::size_t) {
    keys.push_back({std::string(get_string(key, "name")), SecretBytes(get_string(key, "secret"))});
  });
  return keys;
}

KmsConfiguration kms_of(const Object& object) {
  KmsConfiguration kms;
  if (const std::string_view version = get_string(object, "apiVersion"); !version.empty()) kms.api_version = version;
  kms.name = get_string(object, "name");
  kms.endpoint = get_string(object, "endpoint");
  if (const Value* size = find(object, "cachesize"); size != nullptr && size->is_int64())
    kms.cache_size = static_cast<int>(size->get_int64());
  if (!kms.cache_size && kms.api_version == "v1") kms.cache_size = 1000;
  if (has(object, "timeout")) {
    kms.timeout_text = get_string(object, "timeout");
    kms.timeout = parse_duration(kms.timeout_text).value_or(std::chrono::nanoseconds::zero());
  }
  return kms;
}

ProviderConfiguration provider_of(const Object& object) {
  ProviderConfiguration provider;
  provider.aes_gcm = keys_of(object, "aesgcm");
  provider.aes_cbc = keys_of(object, "aescbc");
  provider.secretbox = keys_of(object, "secretbox");
  provider.identity = get_object(object, "identity") != nullptr;
  if (const Object* kms = get_object(object, "kms")) provider.kms = kms_of(*kms);
  return provider;
}

Configuration configuration_of(const Object& object) {
  Configuration configuration;
  each(object, "resources", [&](const Object& entry, std::size_t) {
    ResourceConfiguration resource;
    if (const Array* names = get_array(entry, "resources")) {
      for (const Value& name : *names) resource.resources.emplace_back(text_of(name));
    }
    each(entry, "providers", [&](const Object& provider, std::size_t) { resource.providers.push_back(provider_of(provider)); });
    configuration.resources.push_back(std::move(resource));
  });
  return configuration;
}

}  // namespace

Result<Configuration> read_configuration(std::string_view text, const std::string& path, bool reload) {
  if (text.empty())
    return bad_request("error while loading file: encryption provider configuration file " + backplane::quoted(path) + " is empty");
  static const kit::ConfigDecoder decoder("EncryptionConfiguration", {"v1"}, encryption_configuration_json(), /*secret=*/true);
  auto document = decoder.decode(text);
  if (!document.ok()) {
    return bad_request("error decoding encryption provider configuration file " + backplane::quoted(path) + ": " +
                       document.status().message());
  }
  Configuration configuration = configuration_of(document->object);
  const FieldErrors errors = validate_configuration(configuration, reload);
  if (!errors.empty()) return bad_request(errors.aggregate_message());
  return configuration;
}

GroupResource parse_group_resource(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return {"", std::string(text)};
  return {std::string(text.substr(dot + 1)), std::string(text.substr(0, dot))};
}

}  // namespace backplane::encryption
