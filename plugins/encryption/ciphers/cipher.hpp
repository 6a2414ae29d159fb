// The algorithms for the encryption of values: AES-CBC, AES-GCM, XSalsa20-Poly1305, and AES-GCM with a key derived for each value.
//
// The formats are those of kube-apiserver: nonce or IV, then the ciphertext with its tag.
// Thread-safety: immutable; every method from any thread.
// Lifetime:      shared; the key is wiped with the last reference.
// Errors:        the texts of upstream's errors; they never contain key or plain text.
// Source:        k8s.io/apiserver/pkg/storage/value/encrypt/{aes,secretbox}.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "outcome.hpp"

namespace backplane::encryption {

inline constexpr std::size_t kKeyBytes = 32;  // size of generated keys and seeds

// A key together with its algorithm.
class Cipher {
 public:
  virtual ~Cipher() = default;
  // Appends the encrypted `plain` to `out`. `bound_to` is authenticated with it, if the algorithm can do so.
  virtual Outcome<Done> seal(std::string_view plain, std::string_view bound_to, std::string& out) const = 0;
  virtual Outcome<std::string> open(std::string_view data, std::string_view bound_to) const = 0;
};
using CipherRef = std::shared_ptr<const Cipher>;

// `key`: 16, 24 or 32 bytes.
Outcome<CipherRef> make_aes_gcm(std::string_view key);
Outcome<CipherRef> make_aes_cbc(std::string_view key);
// `key`: 32 bytes.
Outcome<CipherRef> make_secretbox(std::string_view key);
// Each value is encrypted with a different key, derived from the seed and 32 random bytes that precede the value. `seed`: at least 32
// bytes.
Outcome<CipherRef> make_derived_key_gcm(std::string_view seed);

// Fills `bytes` from the system's random generator for key material. Errors: the generator has failed.
Outcome<Done> fill_random(char* bytes, std::size_t size);
// Returns a new key or seed, and counts it in the metrics of generated data keys.
Outcome<std::string> generate_key();

}  // namespace backplane::encryption
