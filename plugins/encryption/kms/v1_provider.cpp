// The provider of KMS plugins of version 1. Each write uses a new key, which the plugin encrypts.
#include <cstdint>
#include <optional>

#include "kms.pb.h"
#include "kms/client.hpp"
#include "kms/key_cache.hpp"
#include "kms/key_flights.hpp"
#include "kms/messages.hpp"
#include "kms/provider.hpp"

namespace backplane::encryption {
namespace {

constexpr std::string_view kVersion = "v1beta1";

// Values are written with AES-GCM. `cbc` reads the values that kube-apiserver before 1.25 has written with AES-CBC.
struct DataKey final : Cipher {
  DataKey(CipherRef gcm_in, CipherRef cbc_in) : gcm(std::move(gcm_in)), cbc(std::move(cbc_in)) {}
  Outcome<Done> seal(std::string_view plain, std::string_view bound_to, std::string& out) const override {
    return gcm->seal(plain, bound_to, out);
  }
  Outcome<std::string> open(std::string_view data, std::string_view bound_to) const override { return gcm->open(data, bound_to); }

  const CipherRef gcm, cbc;
};

Outcome<CipherRef> data_key(std::string_view key) {
  auto gcm = make_aes_gcm(key);
  if (!gcm.ok()) return gcm;
  auto cbc = make_aes_cbc(key);
  if (!cbc.ok()) return cbc;
  return CipherRef(std::make_shared<DataKey>(std::move(*gcm), std::move(*cbc)));
}

Outcome<ReadValue> open(const CipherRef& key, std::string_view data, std::string_view bound_to) {
  const auto& both = static_cast<const DataKey&>(*key);
  auto plain = both.gcm->open(data, bound_to);
  if (plain.ok()) return ReadValue{SharedBytes(std::move(*plain))};
  auto old = both.cbc->open(data, bound_to);
  if (old.ok()) return ReadValue{SharedBytes(std::move(*old)), true};
  return Failure{joined_errors({plain.take_failure(), old.take_failure()})};
}

// A stored value: the size of the encrypted key in two bytes, the encrypted key, and the data.
struct V1Value {
  std::string_view key, data;
};
std::optional<V1Value> split(std::string_view bytes) {
  if (bytes.size() < 2) return std::nullopt;
  const std::size_t size = static_cast<std::size_t>(static_cast<unsigned char>(bytes[0])) << 8U | static_cast<unsigned char>(bytes[1]);
  if (bytes.size() - 2 < size) return std::nullopt;
  return V1Value{bytes.substr(2, size), bytes.substr(2 + size)};
}

class KmsV1Provider final : public KmsProvider {
 public:
  KmsV1Provider(std::string name, KmsClientRef client, int cache_size)
      : name_(std::move(name)), client_(std::move(client)), keys_(cache_size > 0 ? static_cast<std::size_t>(cache_size) : 0) {}

  const std::string& name() const noexcept override { return name_; }
  std::optional<Outcome<ReadValue>> read_now(std::string_view bound_to, const SharedBytes& data) const override;
  std::optional<Outcome<SharedBytes>> write_now(std::string_view, const SharedBytes&, std::string_view) const override {
    return std::nullopt;
  }
  Task<Outcome<ReadValue>> read(std::string bound_to, SharedBytes data) const override;
  Task<Outcome<SharedBytes>> write(std::string bound_to, SharedBytes plain, std::string prefix) const override;

 private:
  Task<Outcome<Done>> check_plugin() override;
  Task<Outcome<Done>> check_version() const;
  Task<Outcome<std::string>> encrypt(std::string plain) const;
  Task<Outcome<std::string>> decrypt(std::string cipher) const;
  Task<Outcome<CipherRef>> fetch_key(std::string key) const;
  void remember(std::string key, CipherRef cipher) const;

  const std::string name_;
  const KmsClientRef client_;
  mutable std::atomic<bool> version_checked_{false};
  mutable KeyCache keys_;
  mutable KeyFlights flights_;
};

Task<Outcome<Done>> KmsV1Provider::check_version() const {
  if (version_checked_.load()) co_return Done();
  kms_api::VersionRequestV1 request;
  request.set_version(std::string(kVersion));
  auto calling = client_->call("/v1beta1.KeyManagementService/Version", request.SerializeAsString());
  auto answer = co_await std::move(calling);
  if (!answer.ok()) co_return Failure{"failed get version from remote KMS provider: " + answer.failure().text};
  kms_api::VersionResponseV1 response;
  if (!response.ParseFromString(*answer)) {
    co_return Failure{"failed get version from remote KMS provider: " + undecodable_response().text};
  }
  if (response.version() != kVersion) {
    co_return Failure{"KMS provider api version " + response.version() + " is not supported, only v1beta1 is supported now"};
  }
  version_checked_.store(true);
  co_return Done();
}

Task<Outcome<std::string>> KmsV1Provider::encrypt(std::string plain) const {
  auto checking = check_version();
  auto checked = co_await std::move(checking);
  if (!checked.ok()) co_return checked.take_failure();
  kms_api::EncryptRequestV1 request;
  request.set_version(std::string(kVersion));
  request.set_plain(std::move(plain));
  auto calling = client_->call("/v1beta1.KeyManagementService/Encrypt", request.SerializeAsString());
  auto answer = co_await std::move(calling);
  if (!answer.ok()) co_return answer;
  kms_api::EncryptResponseV1 response;
  if (!response.ParseFromString(*answer)) co_return undecodable_response();
  co_return std::move(*response.mutable_cipher());
}

Task<Outcome<std::string>> KmsV1Provider::decrypt(std::string cipher) const {
  auto checking = check_version();
  auto checked = co_await std::move(checking);
  if (!checked.ok()) co_return checked.take_failure();
  kms_api::DecryptRequestV1 request;
  request.set_version(std::string(kVersion));
  request.set_cipher(std::move(cipher));
  auto calling = client_->call("/v1beta1.KeyManagementService/Decrypt", request.SerializeAsString());
  auto answer = co_await std::move(calling);
  if (!answer.ok()) co_return answer;
  kms_api::DecryptResponseV1 response;
  if (!response.ParseFromString(*answer)) co_return undecodable_response();
  co_return std::move(*response.mutable_plain());
}

void KmsV1Provider::remember(std::string key, CipherRef cipher) const {
  if (keys_.most() == 0) return;
  const std::size_t kept = keys_.insert(std::move(key), std::move(cipher));
  show_key_cache_fill(static_cast<double>(kept) / static_cast<double>(keys_.most()));
}

Task<Outcome<CipherRef>> KmsV1Provider::fetch_key(std::string key) const {
  if (keys_.most() != 0) count_key_cache_miss();
  auto decrypting = decrypt(key);
  auto plain = co_await std::move(decrypting);
  if (!plain.ok()) co_return plain.take_failure();
  auto cipher = data_key(*plain);
  if (cipher.ok()) remember(std::move(key), *cipher);
  co_return cipher;
}

std::optional<Outcome<ReadValue>> KmsV1Provider::read_now(std::string_view bound_to, const SharedBytes& data) const {
  const auto value = split(data.view());
  if (!value) return Failure{"invalid data encountered by envelope transformer: failed to read uint16 length prefixed data"};
  const CipherRef cipher = keys_.find(value->key);
  if (!cipher) return std::nullopt;
  observe_arrival(Direction::kFromStorage);
  return open(cipher, value->data, bound_to);
}

Task<Outcome<ReadValue>> KmsV1Provider::read(std::string bound_to, SharedBytes data) const {
  const auto self = shared_from_this();
  if (auto known = read_now(bound_to, data)) co_return std::move(*known);
  observe_arrival(Direction::kFromStorage);
  const V1Value value = *split(data.view());
  auto fetching = flights_.fetch(std::string(value.key), [this, &value] { return fetch_key(std::string(value.key)); });
  auto cipher = co_await std::move(fetching);
  if (!cipher.ok()) co_return cipher.take_failure();
  co_return open(*cipher, value.data, bound_to);
}

Task<Outcome<SharedBytes>> KmsV1Provider::write(std::string bound_to, SharedBytes plain, std::string prefix) const {
  const auto self = shared_from_this();
  observe_arrival(Direction::kToStorage);
  auto key = generate_key();
  if (!key.ok()) co_return key.take_failure();
  auto cipher = data_key(*key);
  if (!cipher.ok()) co_return cipher.take_failure();
  auto encrypting = encrypt(std::move(*key));
  auto encrypted = co_await std::move(encrypting);
  if (!encrypted.ok()) co_return encrypted.take_failure();
  if (encrypted->size() > UINT16_MAX)
    co_return Failure{"cryptobyte: pending child length " + std::to_string(encrypted->size()) + " exceeds 2-byte length prefix"};
  std::string out = std::move(prefix);
  out += static_cast<char>(encrypted->size() >> 8U);
  out += static_cast<char>(encrypted->size() & 0xFFU);
  out += *encrypted;
  auto sealed = (*cipher)->seal(plain.view(), bound_to, out);
  if (!sealed.ok()) co_return sealed.take_failure();
  remember(std::move(*encrypted), std::move(*cipher));
  co_return SharedBytes(std::move(out));
}

Task<Outcome<Done>> KmsV1Provider::check_plugin() {
  const std::string provider = " section of the healthz check for KMS Provider " + name_ + ", error: ";
  auto encrypting = encrypt("ping");
  auto encrypted = co_await std::move(encrypting);
  if (!encrypted.ok()) co_return Failure{"failed to perform encrypt" + provider + encrypted.failure().text, encrypted.failure().grpc_code};
  auto decrypting = decrypt(std::move(*encrypted));
  auto decrypted = co_await std::move(decrypting);
  if (!decrypted.ok()) co_return Failure{"failed to perform decrypt" + provider + decrypted.failure().text, decrypted.failure().grpc_code};
  co_return Done();
}

}  // namespace

Outcome<KmsProviderRef> make_kms_v1_provider(Host& host, const KmsSettings& settings) {
  auto client = make_kms_client(host, settings.endpoint, {}, settings.timeout);
  if (!client.ok()) return client.take_failure();
  return KmsProviderRef(std::make_shared<KmsV1Provider>(settings.name, std::move(*client), settings.cache_size));
}

}  // namespace backplane::encryption
