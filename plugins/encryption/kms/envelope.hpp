// Stored values of KMS v2: a value that is encrypted with a data key, and this key, which the KMS plugin has encrypted.
//
// Thread-safety: pure functions of their arguments.
// Errors:        upstream's texts.
// Source:        k8s.io/apiserver/pkg/storage/value/encrypt/envelope/kmsv2.
#pragma once

#include <string>
#include <string_view>

#include "kms/v2_service.hpp"
#include "outcome.hpp"

namespace backplane::encryption {

// Whether the decrypted key is an AES-GCM key, or a seed from which a key is derived for each value.
enum class KeySource : int { kAesGcmKey = 0, kAesGcmSeed = 1 };

struct Envelope {
  std::string encrypted_data;
  EncryptedKey key;
  KeySource source = KeySource::kAesGcmSeed;
};

Outcome<Envelope> parse_envelope(std::string_view bytes);
// Appends the envelope to `out`. Precondition: check_key(key) succeeds.
void append_envelope(const EncryptedKey& key, KeySource source, std::string encrypted_data, std::string& out);

// Checks the key id, the size of the encrypted key, and the annotations.
Outcome<Done> check_key(const EncryptedKey& key);
// `code`: "ok", "empty" or "too_long"; `text`: the error.
struct KeyIdProblem {
  std::string_view code;
  std::string text;
};
KeyIdProblem check_key_id(std::string_view key_id);

// Returns the key under which KeyCache stores a data key. It depends on the source, the encrypted key, the key id and the annotations.
std::string cache_key(const EncryptedKey& key, KeySource source);

}  // namespace backplane::encryption
