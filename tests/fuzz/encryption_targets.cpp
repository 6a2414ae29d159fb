#include "encryption_targets.hpp"

#include "ciphers/cipher.hpp"
#include "configuration/configuration.hpp"
#include "kms/envelope.hpp"
#include "require.hpp"
#include "transformers.hpp"

namespace backplane::fuzz {
namespace {

using encryption::CipherRef;
using encryption::EncryptedKey;
using encryption::KeySource;
using encryption::Outcome;
using encryption::ProviderSteps;

const std::string kStorageKey = "/registry/secrets/n/a";
const std::string kSecret(32, 'k');

ProviderSteps provider(std::string prefix, Outcome<CipherRef> (*make)(std::string_view)) {
  ProviderSteps steps;
  steps.prefix = std::move(prefix);
  steps.no_match = "no key";
  steps.keys.push_back({"k:", encryption::cipher_step(*make(kSecret))});
  return steps;
}

const encryption::Transformers& transformers() {
  static const encryption::Transformers* const made = [] {
    auto* all = new encryption::Transformers("/registry");
    const encryption::Transformers::Providers providers = {provider("k8s:enc:aesgcm:v1:", &encryption::make_aes_gcm),
                                                           provider("k8s:enc:aescbc:v1:", &encryption::make_aes_cbc),
                                                           provider("k8s:enc:secretbox:v1:", &encryption::make_secretbox),
                                                           {{}, encryption::identity_step(), {}, {}}};
    FUZZ_REQUIRE(all->add("secrets", providers).ok());
    return all;
  }();
  return *made;
}

std::string sealed(std::string prefix, Outcome<CipherRef> (*make)(std::string_view)) {
  FUZZ_REQUIRE((*make(kSecret))->seal(R"({"kind":"Secret"})", kStorageKey, prefix).ok());
  return prefix;
}

std::string envelope_seed() {
  std::string out;
  encryption::append_envelope({"sealed", "key-1", {{"a.example.com", "b"}}}, KeySource::kAesGcmSeed,
                              sealed({}, &encryption::make_derived_key_gcm), out);
  return out;
}

// Checks that an accepted envelope, encoded and parsed again, has the same encrypted data and the same cache key.
void check_envelope(std::string_view bytes) {
  auto envelope = encryption::parse_envelope(bytes);
  if (!envelope.ok()) return;
  FUZZ_REQUIRE(encryption::check_key(envelope->key).ok());
  std::string again;
  encryption::append_envelope(envelope->key, envelope->source, envelope->encrypted_data, again);
  auto second = encryption::parse_envelope(again);
  FUZZ_REQUIRE(second.ok() && second->encrypted_data == envelope->encrypted_data);
  FUZZ_REQUIRE(encryption::cache_key(second->key, second->source) == encryption::cache_key(envelope->key, envelope->source));
  static const CipherRef cipher = *encryption::make_derived_key_gcm(kSecret);
  (void)cipher->open(envelope->encrypted_data, kStorageKey);
}

}  // namespace

void encryption_envelopes(std::string_view bytes) {
  const auto transformer = transformers().find({"", "secrets"});
  auto read = transformer->from_storage_now(kStorageKey, SharedBytes(std::string(bytes)));
  FUZZ_REQUIRE(read.has_value());
  if (read->ok()) FUZZ_REQUIRE((*read)->bytes.size() <= bytes.size());
  auto written = transformer->to_storage_now(kStorageKey, SharedBytes(std::string(bytes)));
  FUZZ_REQUIRE(written && written->ok());
  auto back = transformer->from_storage_now(kStorageKey, **written);
  FUZZ_REQUIRE(back && back->ok() && (*back)->bytes.view() == bytes && !(*back)->stale);
  check_envelope(bytes);
}

std::vector<std::string> encryption_envelope_seeds() {
  return {sealed("k8s:enc:aesgcm:v1:k:", &encryption::make_aes_gcm), sealed("k8s:enc:aescbc:v1:k:", &encryption::make_aes_cbc),
          sealed("k8s:enc:secretbox:v1:k:", &encryption::make_secretbox), R"({"kind":"Secret"})", envelope_seed()};
}

void encryption_configuration(std::string_view bytes) {
  auto read = encryption::read_configuration(bytes, "/c", true);
  if (!read.ok()) return;
  FUZZ_REQUIRE(!read->resources.empty());
  for (const auto& entry : read->resources) FUZZ_REQUIRE(!entry.resources.empty() && !entry.providers.empty());
}

std::vector<std::string> encryption_configuration_seeds() {
  return {
      R"(apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [secrets, '*.apps']
  providers:
  - aesgcm: {keys: [{name: a, secret: c2VjcmV0IGlzIHNlY3VyZQ==}]}
  - secretbox: {keys: [{name: b, secret: YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXoxMjM0NTY=}]}
  - kms: {apiVersion: v2, name: c, endpoint: 'unix:///tmp/s', timeout: 3s}
  - identity: {}
)",
      R"({"apiVersion":"apiserver.config.k8s.io/v1","kind":"EncryptionConfiguration","resources":[{"resources":["*.*"],"providers":[{"identity":{}}]}]})"};
}

}  // namespace backplane::fuzz
