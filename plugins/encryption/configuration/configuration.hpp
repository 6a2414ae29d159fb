// The file of --encryption-provider-config: EncryptionConfiguration, apiserver.config.k8s.io/v1.
//
// Thread-safety: pure functions.
// Errors:        upstream's texts. They contain the names of keys, but never their secrets.
// Source:        k8s.io/apiserver/pkg/apis/apiserver (types_encryption.go, v1/defaults.go, validation/validation_encryption.go).
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/meta.hpp"
#include "backplane/core/status.hpp"
#include "ciphers/secret_bytes.hpp"

namespace backplane::encryption {

struct KeyConfiguration {
  std::string name;
  SecretBytes secret;  // base64
};

struct KmsConfiguration {
  std::string api_version = "v1";
  std::string name;
  std::optional<int> cache_size;
  std::string endpoint;
  std::string timeout_text = "3s";  // as in the file
  std::chrono::nanoseconds timeout = std::chrono::seconds(3);
};

// One provider, with the members that the file sets. A valid provider has exactly one.
struct ProviderConfiguration {
  std::optional<std::vector<KeyConfiguration>> aes_gcm, aes_cbc, secretbox;
  bool identity = false;
  std::optional<KmsConfiguration> kms;
};

struct ResourceConfiguration {
  std::vector<std::string> resources;
  std::vector<ProviderConfiguration> providers;
};

struct Configuration {
  std::vector<ResourceConfiguration> resources;
};

// Decodes strictly, sets defaults, validates. `path` appears in errors. `reload`: --encryption-provider-config-automatic-reload.
Result<Configuration> read_configuration(std::string_view text, const std::string& path, bool reload);

FieldErrors validate_configuration(const Configuration& configuration, bool reload);

// "secrets", "deployments.apps", "*.", "*.apps", "*.*".
GroupResource parse_group_resource(std::string_view text);

}  // namespace backplane::encryption
