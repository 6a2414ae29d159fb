#include "accounts/account_tokens.hpp"

#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/pem.h>

#include "backplane/kit/base64url.hpp"
#include "backplane/kit/token_signer.hpp"
#include "backplane/net/openssl_ptr.hpp"
#include "backplane/types/base64.hpp"
#include "tokens/token_test_kit.hpp"

namespace backplane::authentication {
namespace {

constexpr std::int64_t kNow = 1'700'000'000;  // 2023-11-14T22:13:20Z

std::shared_ptr<const kit::TokenSigner> new_signer() {
  const KeyPtr key(EVP_EC_gen("P-256"));
  const BioPtr bio(BIO_new(BIO_s_mem()));
  PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return *kit::TokenSigner::from_pem(std::string_view(data, static_cast<std::size_t>(size)));
}

class FakeLastUsed final : public LastUsedWriter {
 public:
  Task<Status> write(std::string ns, std::string name, std::string uid, std::string date) override {
    written.push_back(ns + "/" + name + "/" + uid + "/" + date);
    co_return result;
  }
  std::vector<std::string> written;
  Status result;
};

class AccountTokensTest : public testing::Test {
 protected:
  AccountTokensTest() {
    objects->put("serviceaccounts/ns/sa", R"({"metadata":{"name":"sa","uid":"u1"},"secrets":[{"name":"auto"}]})");
    objects->put("pods/ns/p", R"({"metadata":{"name":"p","uid":"u2"}})");
    objects->put("secrets/ns/s", R"({"metadata":{"name":"s","uid":"u3"}})");
    objects->put("nodes//n", R"({"metadata":{"name":"n","uid":"u4"}})");
  }

  static Object claims(std::string_view bound = {}) {
    std::string text = R"({"iss":"https://one","sub":"system:serviceaccount:ns:sa","aud":["api"],"exp":1700003600,"iat":1700000000,)"
                       R"("nbf":1700000000,"jti":"j1","kubernetes.io":{"namespace":"ns","serviceaccount":{"name":"sa","uid":"u1"})";
    return json::parse(text.append(bound.empty() ? "" : ",").append(bound) + "}}").get_object();
  }
  static Object with(Object object, std::string_view claim, Value value) {
    object[claim] = std::move(value);
    return object;
  }
  AuthenticationResult ask_text(const std::string& token, std::vector<std::string> audiences = {"api"}) {
    notes = TokenNotes();
    auto keys = std::make_shared<FileKeys>(kit::KeySet({old_signer->public_key(), signer->public_key()}));
    const auto clock = [this] { return now; };
    AccountTokens bound("bound", {"https://one", "https://two"}, keys, {"api", "api2"}, make_bound_validator(objects, metrics, clock),
                        metrics);
    AccountTokens legacy("legacy", {std::string(kLegacyIssuer)}, keys, {"api", "api2"},
                         make_legacy_validator(look_up, objects, last_used, metrics, logger, clock), metrics);
    auto found = result_of(bound.authenticate(token, audiences, notes));
    return found.ok() && !found->has_value() ? result_of(legacy.authenticate(token, audiences, notes)) : found;
  }
  AuthenticationResult ask(const Object& token) { return ask_text(*signer->sign(token)); }
  std::string outcome_of(const Object& token) { return outcome(ask(token)); }
  static std::string extras(const AuthenticationResult& found) {
    std::string out;
    for (const auto& [key, values] : (*found)->user.extra) out += key.substr(key.find('/') + 1) + "=" + values.at(0) + " ";
    return out;
  }

  std::shared_ptr<const kit::TokenSigner> signer = new_signer(), old_signer = new_signer();
  std::shared_ptr<FakeObjects> objects = std::make_shared<FakeObjects>();
  std::shared_ptr<FakeLastUsed> last_used = std::make_shared<FakeLastUsed>();
  AccountMetricsRef metrics = std::make_shared<const AccountMetrics>();
  test::QuietLogger logger;
  TokenNotes notes;
  std::int64_t now = kNow;
  bool look_up = true;
};

constexpr const char* kAccount = "system:serviceaccount:ns:sa";

TEST_F(AccountTokensTest, AreTheUserOfTheirAccount) {
  const auto found = ask(claims());
  ASSERT_EQ(outcome(found), kAccount);
  EXPECT_EQ((*found)->user.uid, "u1");
  EXPECT_EQ((*found)->user.groups, (std::vector<std::string>{"system:serviceaccounts", "system:serviceaccounts:ns"}));
  EXPECT_EQ((*found)->audiences, std::vector<std::string>{"api"});
  EXPECT_EQ(extras(found), "credential-id=JTI=j1 ");
  EXPECT_EQ(outcome(ask_text(*old_signer->sign(claims()))), kAccount) << "each key verifies";
  EXPECT_EQ(outcome_of(with(claims(), "iss", "https://two")), kAccount) << "each issuer is accepted";
}

TEST_F(AccountTokensTest, TellWhatTheyAreBoundTo) {
  EXPECT_EQ(extras(ask(claims(R"("pod":{"name":"p","uid":"u2"},"node":{"name":"gone"})"))),
            "credential-id=JTI=j1 node-name=gone pod-name=p pod-uid=u2 ")
      << "the node of a pod is not looked up";
  EXPECT_EQ(extras(ask(claims(R"("node":{"name":"n","uid":"u4"})"))), "credential-id=JTI=j1 node-name=n node-uid=u4 ");
  EXPECT_EQ(outcome_of(claims(R"("secret":{"name":"s","uid":"u3"})")), kAccount);
}

TEST_F(AccountTokensTest, HaveTheirTime) {
  now = kNow + 3600 + 60;
  EXPECT_EQ(outcome_of(claims()), kAccount) << "a minute for clocks that differ";
  now += 1;
  EXPECT_EQ(outcome_of(claims()), "service account token has expired");
  now = kNow - 60;
  EXPECT_EQ(outcome_of(claims()), kAccount);
  now -= 1;
  EXPECT_EQ(outcome_of(claims()), "service account token is not valid yet");
  now = kNow;
  EXPECT_EQ(outcome_of(with(claims(), "iat", kNow + 61)), "service account token is issued in the future");
  EXPECT_EQ(outcome_of(with(claims(), "exp", "never")), "the claim \"exp\" has the wrong type");
}

TEST_F(AccountTokensTest, AreForTheirAudiences) {
  EXPECT_EQ(outcome_of(with(claims(), "aud", Array{"vault", "db"})),
            R"(token audiences ["vault" "db"] is invalid for the target audiences ["api"])");
  const auto found = ask_text(*signer->sign(with(claims(), "aud", Array{"vault", "db"})), {"api", "db", "vault"});
  EXPECT_EQ((*found)->audiences, (std::vector<std::string>{"db", "vault"}));
  EXPECT_EQ(outcome_of(with(claims(), "aud", nullptr)), kAccount) << "without audiences it is for the API server";
  EXPECT_EQ(notes.annotations.at("authentication.k8s.io/legacy-token"), kAccount);
  EXPECT_NE(outcome(ask_text(*signer->sign(with(claims(), "aud", nullptr)), {"vault"})), kAccount);
}

TEST_F(AccountTokensTest, AreVerified) {
  EXPECT_EQ(outcome_of(with(claims(), "iss", "https://three")), "unknown") << "another authenticator may know it";
  const std::string token = *signer->sign(claims());
  EXPECT_EQ(outcome(ask_text(*new_signer()->sign(claims()))), "invalid signature, no keys found");
  EXPECT_EQ(outcome(ask_text(*new_signer()->sign(Object{{"alg", "ES256"}}, to_json(claims())))),
            "go-jose/go-jose: error in cryptographic primitive");
  EXPECT_EQ(outcome(ask_text(token.substr(0, token.size() - 4))), "go-jose/go-jose: error in cryptographic primitive");
  EXPECT_EQ(outcome(ask_text(token.substr(0, token.rfind('.')))), "unknown");
  EXPECT_EQ(outcome(ask_text(token.substr(0, token.rfind('.') + 1))), "go-jose/go-jose: error in cryptographic primitive");
  const std::string body = token.substr(token.find('.'), token.rfind('.') - token.find('.') + 1);
  EXPECT_EQ(outcome(ask_text(kit::to_base64url(R"({"alg":"none"})") + body)), "go-jose/go-jose: error in cryptographic primitive");
  std::string other = to_json(with(claims(), "sub", "system:serviceaccount:kube-system:admin"));
  EXPECT_EQ(outcome(ask_text(token.substr(0, token.find('.') + 1) + kit::to_base64url(other) + token.substr(token.rfind('.')))),
            "go-jose/go-jose: error in cryptographic primitive");
  EXPECT_EQ(outcome(ask_text(std::string(kit::kMostTokenBytes, 'a') + token)), "unknown") << "too long";
  EXPECT_EQ(outcome(ask_text("")), "unknown");
}

TEST_F(AccountTokensTest, EndWithTheirAccount) {
  objects->put("serviceaccounts/ns/sa", R"({"metadata":{"name":"sa","uid":"new"}})");
  EXPECT_EQ(outcome_of(claims()), "service account UID (new) does not match claim (u1)");
  objects->put("serviceaccounts/ns/sa", R"({"metadata":{"name":"sa","uid":"u1","deletionTimestamp":"2023-11-14T22:12:20Z"}})");
  EXPECT_EQ(outcome_of(claims()), kAccount) << "a minute after the deletion";
  now += 1;
  EXPECT_EQ(outcome_of(claims()), "service account ns/sa has been deleted");
  objects->objects.clear();
  EXPECT_EQ(outcome_of(claims()), R"(serviceaccounts "sa" not found)");
}

TEST_F(AccountTokensTest, EndWithTheObjectThatTheyAreBoundTo) {
  struct Row {
    std::string key, word, name, uid;
  };
  for (const Row& row :
       {Row{"pods/ns/p", "pod", "p", "u2"}, Row{"secrets/ns/s", "secret", "s", "u3"}, Row{"nodes//n", "node", "n", "u4"}}) {
    const auto bound = [&](const std::string& uid) {
      return claims("\"" + row.word + R"(":{"name":")" + row.name + R"(","uid":")" + uid + "\"}");
    };
    EXPECT_EQ(outcome_of(bound(row.uid)), kAccount);
    EXPECT_EQ(outcome_of(bound("old")),
              row.word + " UID (" + row.uid + ") does not match service account " + row.word + " ref claim (old)");
    objects->put(row.key, R"({"metadata":{"uid":")" + row.uid + R"(","deletionTimestamp":"2023-11-14T22:12:20Z"}})");
    EXPECT_EQ(outcome_of(bound(row.uid)), kAccount) << "a minute after the deletion";
    objects->put(row.key, R"({"metadata":{"uid":")" + row.uid + R"(","deletionTimestamp":"2023-11-14T22:12:19Z"}})");
    EXPECT_EQ(outcome_of(bound(row.uid)), "service account token has been invalidated");
    objects->objects.erase(row.key);
    EXPECT_EQ(outcome_of(bound(row.uid)), "service account token has been invalidated") << row.word;
  }
  EXPECT_EQ(outcome_of(claims(R"("pod":7)")), "the claim \"kubernetes.io\" has the wrong type");
  EXPECT_EQ(outcome_of(claims(R"("pod":{})")), "service account token has been invalidated");
}

TEST_F(AccountTokensTest, AreStaleAfterTheirWarning) {
  const double valid = metrics->valid->series().value, stale = metrics->stale->series().value;
  EXPECT_EQ(outcome_of(claims(R"("warnafter":1700000000)")), kAccount);
  EXPECT_TRUE(notes.annotations.empty());
  now += 7;
  EXPECT_EQ(outcome_of(claims(R"("warnafter":1700000000)")), kAccount);
  EXPECT_EQ(notes.annotations.at("authentication.k8s.io/stale-token"),
            "subject: system:serviceaccount:ns:sa, seconds after warning threshold: 7");
  EXPECT_EQ(metrics->valid->series().value, valid + 1);
  EXPECT_EQ(metrics->stale->series().value, stale + 1);
}

// ---- tokens in secrets

class LegacyTokensTest : public AccountTokensTest {
 protected:
  static Object legacy(const std::string& secret = "s") {
    const std::string prefix = "kubernetes.io/serviceaccount/";
    return Object{{"iss", kLegacyIssuer},
                  {"sub", kAccount},
                  {prefix + "namespace", "ns"},
                  {prefix + "secret.name", secret},
                  {prefix + "service-account.name", "sa"},
                  {prefix + "service-account.uid", "u1"}};
  }
  std::string make(const Object& payload, const std::string& secret = "s", const std::string& labels = "{}", const std::string& more = "") {
    const std::string token = *signer->sign(payload);
    objects->put("secrets/ns/" + secret, R"({"metadata":{"name":")" + secret + R"(","uid":"u3","labels":)" + labels + more +
                                             R"(},"data":{"token":")" + to_base64(token) + "\"}}");
    return token;
  }
};

TEST_F(LegacyTokensTest, AreTheUserOfTheirAccountAndTheirUseIsNoted) {
  const auto found = ask_text(make(legacy()));
  ASSERT_EQ(outcome(found), kAccount);
  EXPECT_TRUE((*found)->user.extra.empty());
  EXPECT_EQ(notes.annotations.at("authentication.k8s.io/legacy-token"), kAccount);
  EXPECT_EQ(notes.annotations.at("authentication.k8s.io/legacy-token-manual-secret"), "s");
  EXPECT_EQ(last_used->written, std::vector<std::string>{"ns/s/u3/2023-11-14"});
  for (const char* day : {"2023-11-14", "2023-11-15"}) {
    (void)ask_text(make(legacy(), "s", R"({"kubernetes.io/legacy-token-last-used":")" + std::string(day) + "\"}"));
  }
  EXPECT_EQ(last_used->written.size(), 1U) << "once a day";
  last_used->result = service_unavailable("not now");
  EXPECT_EQ(outcome(ask_text(make(legacy()))), kAccount) << "the use does not depend on the note";
  EXPECT_EQ(logger.lines.size(), 1U);
}

TEST_F(LegacyTokensTest, GeneratedOnesWarn) {
  EXPECT_EQ(outcome(ask_text(make(legacy("auto"), "auto"))), kAccount);
  EXPECT_EQ(notes.annotations.at("authentication.k8s.io/legacy-token-autogenerated-secret"), "auto");
  ASSERT_EQ(notes.warnings.size(), 1U);
  EXPECT_TRUE(notes.warnings[0].starts_with("Use tokens from the TokenRequest API")) << notes.warnings[0];
}

TEST_F(LegacyTokensTest, InvalidatedOnesAreRefusedAndTheirUseIsNoted) {
  const std::string token = make(legacy(), "s", R"({"kubernetes.io/legacy-token-invalid-since":"2023-01-01"})");
  EXPECT_TRUE(
      outcome(ask_text(token)).starts_with("the token in secret ns/s for service account ns/sa has been marked invalid. Use tokens"));
  EXPECT_EQ(notes.annotations.at("authentication.k8s.io/legacy-token-invalidated"), "s/ns");
  EXPECT_EQ(last_used->written.size(), 1U);
}

TEST_F(LegacyTokensTest, EndWithTheirSecretAndAccount) {
  const std::string token = make(legacy());
  make(with(legacy(), "x", 1));
  EXPECT_EQ(outcome(ask_text(token)), "Token does not match server's copy");
  objects->put("secrets/ns/s", R"({"metadata":{"uid":"u3"}})");
  EXPECT_EQ(outcome(ask_text(token)), "Token does not match server's copy");
  EXPECT_EQ(outcome(ask_text(make(legacy(), "s", "{}", R"(,"deletionTimestamp":"2023-11-14T22:13:20Z")"))), "Token has been invalidated");
  objects->objects.erase("secrets/ns/s");
  EXPECT_EQ(outcome(ask_text(token)), "Token has been invalidated");
  const std::string again = make(legacy());
  objects->put("serviceaccounts/ns/sa", R"({"metadata":{"uid":"new"}})");
  EXPECT_EQ(outcome(ask_text(again)), "ServiceAccount UID (new) does not match claim (u1)");
  objects->put("serviceaccounts/ns/sa", R"({"metadata":{"uid":"u1","deletionTimestamp":"2023-11-14T22:13:20Z"}})");
  EXPECT_EQ(outcome(ask_text(again)), "ServiceAccount ns/sa has been deleted");
  look_up = false;
  objects->objects.clear();
  EXPECT_EQ(outcome(ask_text(again)), kAccount) << "--service-account-lookup=false";
  EXPECT_TRUE(last_used->written.empty());
}

TEST_F(LegacyTokensTest, NeedTheirClaims) {
  const std::string prefix = "kubernetes.io/serviceaccount/";
  EXPECT_EQ(outcome_of(with(legacy(), "sub", "")), "sub claim is missing");
  EXPECT_EQ(outcome_of(with(legacy(), prefix + "namespace", "")), "namespace claim is missing");
  EXPECT_EQ(outcome_of(with(legacy(), prefix + "secret.name", "")), "secretName claim is missing");
  EXPECT_EQ(outcome_of(with(legacy(), prefix + "service-account.name", "")), "serviceAccountName claim is missing");
  EXPECT_EQ(outcome_of(with(legacy(), prefix + "service-account.uid", "")), "serviceAccountUID claim is missing");
  EXPECT_EQ(outcome_of(with(legacy(), "sub", "system:serviceaccount:ns:other")), "sub claim is invalid");
  EXPECT_EQ(outcome_of(with(legacy(), "sub", "jane")), "sub claim is invalid");
}

}  // namespace
}  // namespace backplane::authentication
