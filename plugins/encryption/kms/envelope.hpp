// A value that is encrypted with a data key, together with that key as a KMS plugin (v2) has encrypted it.
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

// The kind of the decrypted key.
enum class KeySource : int { kAesGcmKey = 0, kAesGcmSeed = 1 };

struct Envelope {
  std::string encrypted_data;
  EncryptedKey key;
  KeySource source = KeySource::kAesGcmSeed;
};

Outcome<Envelope> parse_envelope(std::string_view bytes);
// Appends the envelope to `out`. `key` has been checked.
void append_envelope(const EncryptedKey& key, KeySource source, std::string encrypted_data, std::string& out);

// Key id, size of the encrypted key, annotations.
Outcome<Done> check_key(const EncryptedKey& key);
// "ok", "empty" or "too_long", and the error.
struct KeyIdProblem {
  std::string_view code;
  std::string text;
};
KeyIdProblem check_key_id(std::string_view key_id);

// The cache key of a data key: its source, its encrypted form, its key id and its annotations.
std::string cache_key(const EncryptedKey& key, KeySource source);

}  // namespace backplane::encryption
