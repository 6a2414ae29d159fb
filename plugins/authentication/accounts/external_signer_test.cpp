#include "backplane/kit/external_signer.hpp"

#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/pem.h>

#include "backplane/kit/base64url.hpp"
#include "backplane/kit/jws.hpp"
#include "backplane/kit/token_signer.hpp"
#include "backplane/net/openssl_ptr.hpp"
#include "tokens/token_test_kit.hpp"

namespace backplane::kit {
namespace {

using authentication::result_of;

std::shared_ptr<const TokenSigner> ec_signer() {
  const KeyPtr key(EVP_EC_gen("P-256"));
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return *TokenSigner::from_pem(std::string_view(data, static_cast<std::size_t>(size)));
}

std::string text_field(unsigned number, const std::string& text) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  for (std::size_t size = text.size(); size >= 128; size >>= 7) {
    out.push_back(static_cast<char>((size & 127) | 128));
    if (size >> 7 < 128) {
      out.push_back(static_cast<char>(size >> 7));
      return out + text;
    }
  }
  out.push_back(static_cast<char>(text.size()));
  return out + text;
}
std::string number_field(unsigned number, unsigned value) {
  std::string out(1, static_cast<char>(number << 3));
  for (; value >= 128; value >>= 7) out.push_back(static_cast<char>((value & 127) | 128));
  out.push_back(static_cast<char>(value));
  return out;
}
std::string key_message(const std::string& id, const std::string& der, bool unpublished = false) {
  return text_field(1, text_field(1, id) + text_field(2, der) + (unpublished ? number_field(3, 1) : ""));
}

// The process behind the socket: one response message for each method.
class FakeProcess final : public HttpClient {
 public:
  class Answer final : public HttpAnswer {
   public:
    explicit Answer(std::string body) : body_(std::move(body)) {}
    int code() const noexcept override { return 200; }
    const Headers& headers() const noexcept override { return headers_; }
    Task<Result<std::string>> read() override { co_return std::exchange(body_, {}); }
    void cancel() override {}
    const Headers& trailers() const noexcept override { return trailers_; }

   private:
    std::string body_;
    const Headers headers_{{"content-type", "application/grpc"}}, trailers_{{"grpc-status", "0"}};
  };
  Task<Result<std::unique_ptr<HttpAnswer>>> call(HttpCall call) override {
    ++calls[call.target];
    const std::string& message = messages[call.target.substr(call.target.rfind('/') + 1)];
    std::string frame(5, '\0');
    for (int i = 0; i < 4; ++i) frame[1 + i] = static_cast<char>(message.size() >> (24 - 8 * i) & 0xFF);
    co_return std::unique_ptr<HttpAnswer>(std::make_unique<Answer>(frame + message));
  }
  std::map<std::string, std::string> messages;
  std::map<std::string, int> calls;
};

class ExternalSignerTest : public testing::Test {
 protected:
  ExternalSignerTest() {
    process->messages["FetchKeys"] = key_message("k1", key->public_key().der()) + key_message("old", old->public_key().der(), true) +
                                     text_field(2, number_field(1, 1000)) + number_field(3, 60);
    process->messages["Metadata"] = number_field(1, 7200);
  }
  std::string signed_with(const Object& header) {
    process->messages["Sign"] = text_field(1, to_base64url(to_json(header))) + text_field(2, "c2ln");
    auto token = result_of(signer->sign("{}"));
    return token.ok() ? *token : token.status().message();
  }

  std::shared_ptr<const TokenSigner> key = ec_signer(), old = ec_signer();
  std::shared_ptr<FakeProcess> process = std::make_shared<FakeProcess>();
  test::QuietLogger logger;
  std::shared_ptr<ExternalSigner> signer = std::make_shared<ExternalSigner>(process, logger);
};

TEST_F(ExternalSignerTest, KeysAreThoseOfTheProcess) {
  const Status started = result_of(signer->start());
  ASSERT_TRUE(started.ok()) << started.message();
  EXPECT_EQ(signer->longest_seconds(), 7200);
  EXPECT_EQ(signer->keys()->verifying.keys().size(), 2U);
  ASSERT_EQ(signer->keys()->published.size(), 1U) << "the old key is not published";
  EXPECT_EQ(get_string(signer->keys()->published[0], "kid"), "k1");
  const auto jws = parse_jws(*key->sign(Object{{"alg", "ES256"}, {"kid", "k1"}}, "{}"));
  EXPECT_NE(verifying_key(*jws, result_of(signer->keys_for("k1"))->verifying), nullptr);
  const int fetched = process->calls["/v1.ExternalJWTSigner/FetchKeys"];
  EXPECT_TRUE(result_of(signer->keys_for("new"))->verifying.find("new").empty());
  EXPECT_EQ(process->calls["/v1.ExternalJWTSigner/FetchKeys"], fetched + 1) << "an unknown id";
}

TEST_F(ExternalSignerTest, SignsAndChecksTheHeader) {
  ASSERT_TRUE(result_of(signer->start()).ok());
  const Object good{{"alg", "ES256"}, {"kid", "k1"}, {"typ", "JWT"}};
  EXPECT_EQ(signed_with(good), to_base64url(to_json(good)) + ".e30.c2ln");
  EXPECT_EQ(signed_with(Object{{"alg", "ES256"}, {"kid", "k1"}}), "while validating header: bad type");
  EXPECT_EQ(signed_with(Object{{"alg", "ES256"}, {"typ", "JWT"}}), "while validating header: key id missing");
  EXPECT_EQ(signed_with(Object{{"alg", "none"}, {"kid", "k1"}, {"typ", "JWT"}}), "while validating header: bad signing algorithm \"none\"");
  EXPECT_EQ(signed_with(Object{{"alg", "ES256"}, {"kid", "old"}, {"typ", "JWT"}}),
            "while validating header: key used for signing JWT (kid: old) is excluded from OIDC discovery docs");
  EXPECT_EQ(signed_with(Object{{"alg", "ES256"}, {"kid", "k1"}, {"typ", "JWT"}, {"jku", "x"}}),
            "while validating header: while parsing header JSON: json: unknown field \"jku\"");
}

TEST_F(ExternalSignerTest, RefusesOtherAnswers) {
  const auto why = [](const std::string& message) {
    return read_external_keys(message, std::chrono::steady_clock::now()).status().message();
  };
  const std::string good = key_message("k1", key->public_key().der());
  EXPECT_EQ(why(good), "found invalid refresh hint (0s)");
  EXPECT_EQ(why(number_field(3, 60)), "found no keys");
  EXPECT_EQ(why(key_message("", "x") + number_field(3, 60)), "found invalid public key id \"\"");
  EXPECT_EQ(why(key_message("k", "") + number_field(3, 60)), "found empty public key");
  EXPECT_TRUE(why(key_message("k", "x") + number_field(3, 60)).starts_with("while parsing external public keys: "));
  EXPECT_EQ(why(good.substr(0, 40)), "malformed FetchKeysResponse");
  process->messages["Metadata"] = number_field(1, 60);
  EXPECT_EQ(result_of(signer->start()).message(),
            "max token life supported by external-jwt-signer (60s) is less than acceptable (min 600s)");
}

}  // namespace
}  // namespace backplane::kit
