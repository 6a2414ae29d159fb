// A KMS plugin for tests. It implements HttpClient, so tests need no connection.
//
// Thread-safety: one thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "backplane/net/client.hpp"
#include "kms.pb.h"

namespace backplane::encryption::test {

class FakeAnswer final : public HttpAnswer {
 public:
  FakeAnswer(std::string body, std::string status, std::string message)
      : body_(std::move(body)), trailers_{{"grpc-status", std::move(status)}, {"grpc-message", std::move(message)}} {}
  int code() const noexcept override { return 200; }
  const Headers& headers() const noexcept override { return headers_; }
  Task<Result<std::string>> read() override { co_return std::exchange(body_, {}); }
  void cancel() override {}
  const Headers& trailers() const noexcept override { return trailers_; }

 private:
  std::string body_;
  const Headers headers_{{"content-type", "application/grpc"}};
  const Headers trailers_;
};

// Encrypts by reversing the bytes. The test can replace its responses.
class FakeKms final : public HttpClient {
 public:
  std::string key_id = "key-1", encrypt_key_id, healthz = "ok", version = "v2";
  std::map<std::string, std::string> annotations;
  std::string fail_status;                        // not empty: every call fails with this gRPC code (a number)
  bool unreachable = false;                       // nothing listens
  bool rubbish = false;                           // responses are not valid messages
  std::map<std::string, std::string> plaintexts;  // additional known ciphertexts
  std::map<std::string, int> calls;               // by method
  std::function<Task<void>()> before_answer;

  Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) override {
    ++calls[call.target.substr(call.target.rfind('/') + 1)];
    if (unreachable) co_return as_never_sent(service_unavailable("dial unix /s: connect: connection refused"));
    if (before_answer) {
      auto waiting = before_answer();
      co_await std::move(waiting);
    }
    if (!fail_status.empty()) co_return answer({}, fail_status, "the key is gone");
    if (rubbish) co_return answer(framed("\xff\xff\xff"), "0", "");
    co_return answer(framed(respond(call.target, call.body.substr(5))), "0", "");
  }

 private:
  static std::unique_ptr<HttpAnswer> answer(std::string body, std::string status, std::string message) {
    return std::make_unique<FakeAnswer>(std::move(body), std::move(status), std::move(message));
  }
  static std::string framed(const std::string& message) {
    std::string out(1, '\0');
    for (int i = 3; i >= 0; --i) out += static_cast<char>(message.size() >> (8 * i) & 0xFFU);
    return out + message;
  }
  std::string respond(const std::string& method, const std::string& request) {
    if (method == "/v2.KeyManagementService/Status") {
      kms_api::StatusResponse response;
      response.set_version(version);
      response.set_healthz(healthz);
      response.set_key_id(key_id);
      return response.SerializeAsString();
    }
    if (method == "/v2.KeyManagementService/Encrypt") return encrypt(request);
    if (method == "/v2.KeyManagementService/Decrypt") return decrypt(request);
    if (method == "/v1beta1.KeyManagementService/Version") {
      kms_api::VersionResponseV1 response;
      response.set_version(version);
      return response.SerializeAsString();
    }
    return respond_v1(method, request);
  }
  std::string encrypt(const std::string& bytes) const {
    kms_api::EncryptRequest request;
    request.ParseFromString(bytes);
    kms_api::EncryptResponse response;
    response.set_ciphertext(std::string(request.plaintext().rbegin(), request.plaintext().rend()));
    response.set_key_id(encrypt_key_id.empty() ? key_id : encrypt_key_id);
    response.mutable_annotations()->insert(annotations.begin(), annotations.end());
    return response.SerializeAsString();
  }
  std::string decrypt(const std::string& bytes) const {
    kms_api::DecryptRequest request;
    request.ParseFromString(bytes);
    kms_api::DecryptResponse response;
    const auto known = plaintexts.find(request.ciphertext());
    response.set_plaintext(known != plaintexts.end() ? known->second
                                                     : std::string(request.ciphertext().rbegin(), request.ciphertext().rend()));
    return response.SerializeAsString();
  }
  static std::string respond_v1(const std::string& method, const std::string& bytes) {
    if (method == "/v1beta1.KeyManagementService/Encrypt") {
      kms_api::EncryptRequestV1 request;
      request.ParseFromString(bytes);
      kms_api::EncryptResponseV1 response;
      response.set_cipher(std::string(request.plain().rbegin(), request.plain().rend()));
      return response.SerializeAsString();
    }
    kms_api::DecryptRequestV1 request;
    request.ParseFromString(bytes);
    kms_api::DecryptResponseV1 response;
    response.set_plain(std::string(request.cipher().rbegin(), request.cipher().rend()));
    return response.SerializeAsString();
  }
};

}  // namespace backplane::encryption::test
