// A configuration in use: its transformers, and the KMS plugins that they call.
//
// Thread-safety: immutable once made.
// Lifetime:      shared; see transformers.hpp.
// Errors:        upstream's texts, with the context that upstream adds.
// Source:        encryptionconfig.LoadEncryptionConfig.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "backplane/host.hpp"
#include "backplane/points/hooks.hpp"
#include "backplane/points/storage.hpp"
#include "configuration/configuration.hpp"
#include "kms/provider.hpp"
#include "transformers.hpp"

namespace backplane::encryption {

// The source of the configuration, and the options for reading it.
struct SetupContext {
  std::string path;
  bool reload = false;
  std::string storage_root = std::string(kStorageKeyRoot);
  std::string server_id_hash;
};

struct Setup {
  std::string hash;  // "sha256:…" of the file
  std::shared_ptr<const Transformers> transformers;
  std::vector<KmsProviderRef> kms;
  bool uses_kms_v1 = false, uses_kms_v2 = false;
  // Twice the sum of the time limits of all calls of a health check.
  std::chrono::nanoseconds grace{};

  // Checks all plugins, one after the other. This is the health check kms-providers.
  Task<Outcome<Done>> check() const;
};
using SetupRef = std::shared_ptr<const Setup>;

// Makes the transformers of the file's content.
Outcome<SetupRef> make_setup(Host& host, const SetupContext& context, std::string_view text);

}  // namespace backplane::encryption
