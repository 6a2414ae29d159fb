#include "kms/v2_service.hpp"

#include "kms.pb.h"
#include "kms/messages.hpp"

namespace backplane::encryption {

Task<Outcome<KmsStatus>> kms_status(KmsClientRef client) {
  auto calling = client->call("/v2.KeyManagementService/Status", {});
  auto answer = co_await std::move(calling);
  if (!answer.ok()) co_return answer.take_failure();
  kms_api::StatusResponse response;
  if (!response.ParseFromString(*answer)) co_return undecodable_response();
  co_return KmsStatus{response.version(), response.healthz(), response.key_id()};
}

Task<Outcome<EncryptedKey>> kms_encrypt(KmsClientRef client, std::string uid, std::string plain) {
  kms_api::EncryptRequest request;
  request.set_plaintext(std::move(plain));
  request.set_uid(std::move(uid));
  auto calling = client->call("/v2.KeyManagementService/Encrypt", request.SerializeAsString());
  auto answer = co_await std::move(calling);
  if (!answer.ok()) co_return answer.take_failure();
  kms_api::EncryptResponse response;
  if (!response.ParseFromString(*answer)) co_return undecodable_response();
  EncryptedKey key{response.ciphertext(), response.key_id(), {}};
  key.annotations.insert(response.annotations().begin(), response.annotations().end());
  co_return key;
}

Task<Outcome<std::string>> kms_decrypt(KmsClientRef client, std::string uid, EncryptedKey key) {
  kms_api::DecryptRequest request;
  request.set_ciphertext(std::move(key.ciphertext));
  request.set_uid(std::move(uid));
  request.set_key_id(std::move(key.key_id));
  request.mutable_annotations()->insert(key.annotations.begin(), key.annotations.end());
  auto calling = client->call("/v2.KeyManagementService/Decrypt", request.SerializeAsString());
  auto answer = co_await std::move(calling);
  if (!answer.ok()) co_return answer.take_failure();
  kms_api::DecryptResponse response;
  if (!response.ParseFromString(*answer)) co_return undecodable_response();
  co_return std::move(*response.mutable_plaintext());
}

}  // namespace backplane::encryption
