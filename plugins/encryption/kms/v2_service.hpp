// The service of KMS plugins, version 2 (k8s.io/kms/apis/v2).
//
// Thread-safety, errors: as KmsClient::call(); a response that cannot be decoded is an error.
#pragma once

#include <map>
#include <string>

#include "backplane/core/task.hpp"
#include "kms/client.hpp"

namespace backplane::encryption {

using Annotations = std::map<std::string, std::string>;

struct KmsStatus {
  std::string version, healthz, key_id;
};
// An encrypted key or seed, and the data that the plugin needs to decrypt it.
struct EncryptedKey {
  std::string ciphertext, key_id;
  Annotations annotations;
};

Task<Outcome<KmsStatus>> kms_status(KmsClientRef client);
Task<Outcome<EncryptedKey>> kms_encrypt(KmsClientRef client, std::string uid, std::string plain);
Task<Outcome<std::string>> kms_decrypt(KmsClientRef client, std::string uid, EncryptedKey key);

}  // namespace backplane::encryption
