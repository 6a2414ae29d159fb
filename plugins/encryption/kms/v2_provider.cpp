#include "kms/v2_provider.hpp"

#include <openssl/crypto.h>

#include "backplane/core/meta.hpp"
#include "backplane/points/hooks.hpp"

namespace backplane::encryption {
namespace {

constexpr std::chrono::seconds kHealthyInterval{60}, kFailingInterval{10};
constexpr std::string_view kNoKey = "got unexpected nil transformer";

// Go's time.RFC3339 in UTC; the zero time for a key that does not exist.
std::string time_text(KmsV2Provider::Time time) {
  if (time == KmsV2Provider::Time()) return "0001-01-01T00:00:00Z";
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

Outcome<CipherRef> cipher_of(std::string_view key, KeySource source) {
  return source == KeySource::kAesGcmSeed ? make_derived_key_gcm(key) : make_aes_gcm(key);
}

}  // namespace

KmsV2Provider::KmsV2Provider(KmsClientRef client, Logger& logger, std::string server_id_hash, Time (*now)())
    : client_(std::move(client)), logger_(logger), server_id_hash_(std::move(server_id_hash)), now_(now) {}

// ---- values

CipherRef KmsV2Provider::known_cipher(const std::string& id, const WriteKey& current) const {
  return id == current.cache_key ? current.cipher : keys_.find(id);
}

Outcome<ReadValue> KmsV2Provider::open(std::string_view bound_to, const Envelope& envelope, const CipherRef& cipher,
                                       const WriteKey& current) const {
  const bool same_key = envelope.key.key_id == current.key.key_id;
  if (same_key) {
    count_key_id(Direction::kFromStorage, name(), current.key_id_hash, server_id_hash_);
  } else {
    const std::string hash = hash_text(envelope.key.key_id);
    keep_key_id(Direction::kFromStorage, name(), hash, server_id_hash_);
    count_key_id(Direction::kFromStorage, name(), hash, server_id_hash_);
  }
  auto plain = cipher->open(envelope.encrypted_data, bound_to);
  if (!plain.ok()) return plain.take_failure();
  return ReadValue{SharedBytes(std::move(*plain)), !same_key || envelope.source != KeySource::kAesGcmSeed};
}

std::optional<Outcome<ReadValue>> KmsV2Provider::read_now(std::string_view bound_to, const SharedBytes& data) const {
  if (!primed_.happened()) return std::nullopt;
  auto envelope = parse_envelope(data.view());
  if (!envelope.ok()) return envelope.take_failure();
  const WriteKeyRef current = current_.load();
  if (!current) return Failure{std::string(kNoKey)};
  const CipherRef cipher = known_cipher(cache_key(envelope->key, envelope->source), *current);
  if (!cipher) return std::nullopt;
  return open(bound_to, *envelope, cipher, *current);
}

Task<Outcome<ReadValue>> KmsV2Provider::read(std::string bound_to, SharedBytes data) const {
  const auto self = shared_from_this();
  auto envelope = parse_envelope(data.view());
  if (!envelope.ok()) co_return envelope.take_failure();
  auto priming = primed_.wait();
  co_await std::move(priming);
  const WriteKeyRef current = current_.load();
  if (!current) co_return Failure{std::string(kNoKey)};
  std::string id = cache_key(envelope->key, envelope->source);
  CipherRef cipher = known_cipher(id, *current);
  if (!cipher) {
    auto fetching = decrypt_key(std::move(id), envelope->key, envelope->source);
    auto fetched = co_await std::move(fetching);
    if (!fetched.ok()) co_return fetched.take_failure();
    cipher = std::move(*fetched);
  }
  co_return open(bound_to, *envelope, cipher, *current);
}

Task<Outcome<CipherRef>> KmsV2Provider::decrypt_key(std::string id, EncryptedKey key, KeySource source) const {
  struct Call {
    static Task<Outcome<CipherRef>> run(const KmsV2Provider& self, const std::string& id, const EncryptedKey& key, KeySource source) {
      count_key_cache_miss();
      auto calling = kms_decrypt(self.client_, new_uid(), key);
      auto plain = co_await std::move(calling);
      if (!plain.ok()) {
        co_return Failure{"failed to decrypt DEK, error: " + plain.failure().text, plain.failure().grpc_code};
      }
      auto cipher = cipher_of(*plain, source);
      OPENSSL_cleanse(plain->data(), plain->size());
      if (cipher.ok()) show_key_cache_size(self.name(), self.keys_.insert(id, *cipher));
      co_return cipher;
    }
  };
  auto fetching = flights_.fetch(id, [&] { return Call::run(*this, id, key, source); });
  auto fetched = co_await std::move(fetching);
  co_return fetched;
}

std::optional<Outcome<SharedBytes>> KmsV2Provider::write_now(std::string_view bound_to, const SharedBytes& plain,
                                                             std::string_view prefix) const {
  if (!primed_.happened()) return std::nullopt;
  const WriteKeyRef current = current_.load();
  if (!current) return Failure{std::string(kNoKey)};
  if (const Time now = now_(); now > current->expires) {
    return Failure{"encryptedDEKSource with keyID hash " + backplane::quoted(current->key_id_hash) + " expired at " +
                   time_text(current->expires) + " (current time is " + time_text(now) + ")"};
  }
  std::string sealed;
  auto done = current->cipher->seal(plain.view(), bound_to, sealed);
  if (!done.ok()) return done.take_failure();
  count_key_id(Direction::kToStorage, name(), current->key_id_hash, server_id_hash_);
  std::string out(prefix);
  append_envelope(current->key, KeySource::kAesGcmSeed, std::move(sealed), out);
  return SharedBytes(std::move(out));
}

Task<Outcome<SharedBytes>> KmsV2Provider::write(std::string bound_to, SharedBytes plain, std::string prefix) const {
  const auto self = shared_from_this();
  auto priming = primed_.wait();
  co_await std::move(priming);
  co_return *write_now(bound_to, plain, prefix);
}

// ---- health, and the seed

Task<void> KmsV2Provider::poll(std::weak_ptr<KmsV2Provider> provider, Signal& stop) {
  Sleeper sleeper(stop);
  for (;;) {
    bool healthy = false;
    {
      const auto self = provider.lock();
      if (!self) co_return;
      auto checking = self->check();
      const auto checked = co_await std::move(checking);
      healthy = checked.ok();
      if (!healthy) self->logger_.warn("kms plugin failed health check probe name=" + self->name() + " error=" + checked.failure().text);
    }
    auto pause = sleeper.sleep(healthy ? kHealthyInterval : kFailingInterval);
    const bool continues = co_await std::move(pause);
    if (!continues) co_return;
  }
}

Task<Outcome<Done>> KmsV2Provider::check_plugin() {
  auto asking = ask_plugin();
  auto checked = co_await std::move(asking);
  primed_.happen();
  co_return checked;
}

Task<Outcome<Done>> KmsV2Provider::ask_plugin() {
  auto asking = kms_status(client_);
  auto status = co_await std::move(asking);
  if (!status.ok()) {
    co_return Failure{
        "failed to perform status section of the healthz check for KMS Provider " + name() + ", error: " + status.failure().text,
        status.failure().grpc_code};
  }
  std::vector<Failure> errors = check_status(*status);
  const KeyIdProblem problem = check_key_id(status->key_id);
  if (!problem.text.empty()) {
    count_invalid_key_id(name(), problem.code);
    errors.push_back({"got invalid KMSv2 KeyID hash " + backplane::quoted(hash_text(status->key_id)) + ": " + problem.text});
  } else {
    show_key_id_of_status(name(), hash_text(status->key_id), server_id_hash_);
    auto rotating = rotate_if_changed(status->key_id);
    auto rotated = co_await std::move(rotating);
    if (!rotated.ok()) errors.push_back(rotated.take_failure());
  }
  if (errors.empty()) co_return Done();
  co_return Failure{"kmsv2 Provider " + name() + " is not healthy, error: " + joined_errors(errors)};
}

std::vector<Failure> KmsV2Provider::check_status(const KmsStatus& status) {
  std::vector<Failure> errors;
  if (status.healthz != "ok") errors.push_back({"got unexpected healthz status: " + status.healthz});
  if (status.version != "v2" && status.version != "v2beta1") {
    errors.push_back({"expected KMSv2 API version v2, got " + status.version});
  } else if (version_.empty()) {
    version_ = status.version;
  } else if (version_ != status.version) {
    errors.push_back(
        {"KMSv2 API version should not change after the initial status response version " + version_ + ", got " + status.version});
  }
  return errors;
}

Task<Outcome<KmsV2Provider::WriteKeyRef>> KmsV2Provider::generate(std::string uid, Time expires) const {
  auto seed = generate_key();
  if (!seed.ok()) co_return seed.take_failure();
  auto cipher = make_derived_key_gcm(*seed);
  if (!cipher.ok()) co_return cipher.take_failure();
  auto encrypting = kms_encrypt(client_, std::move(uid), std::move(*seed));
  auto encrypted = co_await std::move(encrypting);
  if (!encrypted.ok()) co_return Failure{"failed to encrypt DEK, error: " + encrypted.failure().text, encrypted.failure().grpc_code};
  if (auto checked = check_key(*encrypted); !checked.ok()) co_return checked.take_failure();
  auto key = std::make_shared<WriteKey>();
  key->cache_key = cache_key(*encrypted, KeySource::kAesGcmSeed);
  key->key_id_hash = hash_text(encrypted->key_id);
  key->key = std::move(*encrypted);
  key->cipher = std::move(*cipher);
  key->expires = expires;
  co_return WriteKeyRef(std::move(key));
}

// Called after each healthy status. Extends the time until which writes are allowed; the new time is measured from the start of this
// function.
Task<Outcome<Done>> KmsV2Provider::rotate_if_changed(std::string key_id) {
  const WriteKeyRef current = current_.load();
  const Time expires = now_() + kLifetime;
  if (current && current->key.key_id == key_id) {
    auto extended = std::make_shared<WriteKey>(*current);
    extended->expires = expires;
    current_.store(std::move(extended));
    co_return Done();
  }
  const std::string uid = new_uid();
  auto generating = generate(uid, expires);
  auto generated = co_await std::move(generating);
  if (generated.ok() && (*generated)->key.key_id == key_id) {
    // Values that were written with this seed are later read with the cached seed, when it is no longer the current one.
    show_key_cache_size(name(), keys_.insert((*generated)->cache_key, (*generated)->cipher));
    for (const Direction each : {Direction::kFromStorage, Direction::kToStorage}) {
      keep_key_id(each, name(), (*generated)->key_id_hash, server_id_hash_);
    }
    logger_.info("the data encryption key of a KMS plugin has been rotated name=" + name() + " keyIDHash=" + (*generated)->key_id_hash);
    current_.store(std::move(*generated));
    co_return Done();
  }
  co_return Failure{
      "failed to rotate DEK uid=" + backplane::quoted(uid) + ", useSeed=true, errState=" + (current ? "<nil>" : std::string(kNoKey)) +
      ", errGen=" + (generated.ok() ? "<nil>" : generated.failure().text) + ", statusKeyIDHash=" + backplane::quoted(hash_text(key_id)) +
      ", encryptKeyIDHash=" + backplane::quoted(generated.ok() ? (*generated)->key_id_hash : std::string()) +
      ", stateKeyIDHash=" + backplane::quoted(current ? current->key_id_hash : std::string()) +
      ", expirationTimestamp=" + time_text(current ? current->expires : Time())};
}

Outcome<KmsProviderRef> make_kms_v2_provider(Host& host, const KmsSettings& settings, std::string server_id_hash) {
  auto client = make_kms_client(host, settings.endpoint, settings.name, settings.timeout);
  if (!client.ok()) return client.take_failure();
  auto provider = std::make_shared<KmsV2Provider>(std::move(*client), host.logger(), std::move(server_id_hash));
  host.spawn("KMS plugin " + settings.name, KmsV2Provider::poll(provider, host.stop_signal()));
  return KmsProviderRef(std::move(provider));
}

}  // namespace backplane::encryption
