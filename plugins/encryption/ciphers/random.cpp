#include <openssl/rand.h>

#include <chrono>

#include "ciphers/cipher.hpp"
#include "ciphers/openssl_cipher.hpp"
#include "metrics.hpp"

namespace backplane::encryption {

Outcome<Done> fill_random(char* bytes, std::size_t size) {
  if (RAND_bytes(bytes_of(bytes), static_cast<int>(size)) == 1) return Done();
  return Failure{"unable to read sufficient random bytes"};
}

Outcome<std::string> generate_key() {
  const auto begin = std::chrono::steady_clock::now();
  std::string key(kKeyBytes, '\0');
  auto filled = RAND_priv_bytes(bytes_of(key.data()), static_cast<int>(key.size())) == 1;
  count_generated_key(std::chrono::steady_clock::now() - begin, filled);
  if (!filled) return Failure{"unable to read sufficient random bytes"};
  return key;
}

}  // namespace backplane::encryption
