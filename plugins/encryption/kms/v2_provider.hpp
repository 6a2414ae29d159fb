// The provider of KMS plugins of version 2: one seed for all writes until the plugin's key changes.
//
// Thread-safety: as KmsProvider. Reads and writes with the current seed take no lock.
// Lifetime:      shared; coroutines hold the provider.
// Source:        k8s.io/apiserver/pkg/server/options/encryptionconfig (kmsv2PluginProbe), …/encrypt/envelope/kmsv2.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "kms/envelope.hpp"
#include "kms/key_cache.hpp"
#include "kms/key_flights.hpp"
#include "kms/provider.hpp"

namespace backplane::encryption {

class KmsV2Provider final : public KmsProvider {
 public:
  using Time = std::chrono::system_clock::time_point;
  // A write fails if the last healthy status of the plugin is older than this.
  static constexpr std::chrono::minutes kLifetime{3};
  static constexpr std::size_t kMostKeys = 10'000;

  // `now` is for tests.
  KmsV2Provider(KmsClientRef client, Logger& logger, std::string server_id_hash, Time (*now)() = &std::chrono::system_clock::now);

  const std::string& name() const noexcept override { return client_->provider(); }
  std::optional<Outcome<ReadValue>> read_now(std::string_view bound_to, const SharedBytes& data) const override;
  std::optional<Outcome<SharedBytes>> write_now(std::string_view bound_to, const SharedBytes& plain,
                                                std::string_view prefix) const override;
  Task<Outcome<ReadValue>> read(std::string bound_to, SharedBytes data) const override;
  Task<Outcome<SharedBytes>> write(std::string bound_to, SharedBytes plain, std::string prefix) const override;

  // Requests the status periodically until `stop` fires or the provider is dropped.
  static Task<void> poll(std::weak_ptr<KmsV2Provider> provider, Signal& stop);

 private:
  // The seed for writes.
  struct WriteKey {
    EncryptedKey key;
    CipherRef cipher;
    std::string cache_key;
    std::string key_id_hash;
    Time expires;
  };
  using WriteKeyRef = std::shared_ptr<const WriteKey>;

  Task<Outcome<Done>> check_plugin() override;
  Task<Outcome<Done>> ask_plugin();
  std::vector<Failure> check_status(const KmsStatus& status);
  Task<Outcome<Done>> rotate_if_changed(std::string key_id);
  Task<Outcome<WriteKeyRef>> generate(std::string uid, Time expires) const;
  Outcome<ReadValue> open(std::string_view bound_to, const Envelope& envelope, const CipherRef& cipher, const WriteKey& current) const;
  CipherRef known_cipher(const std::string& id, const WriteKey& current) const;
  Task<Outcome<CipherRef>> decrypt_key(std::string id, EncryptedKey key, KeySource source) const;

  const KmsClientRef client_;
  Logger& logger_;
  const std::string server_id_hash_;
  Time (*const now_)();
  mutable Once primed_;  // the first check has ended
  std::atomic<std::shared_ptr<const WriteKey>> current_{nullptr};
  mutable KeyCache keys_{kMostKeys};
  mutable KeyFlights flights_;
  std::string version_;  // from the first status; used by check_plugin()
};

}  // namespace backplane::encryption
