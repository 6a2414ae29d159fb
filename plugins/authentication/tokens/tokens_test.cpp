#include <gtest/gtest.h>

#include "backplane/kit/base64url.hpp"
#include "backplane/types/base64.hpp"
#include "tokens/bearer.hpp"
#include "tokens/bootstrap_tokens.hpp"
#include "tokens/csv.hpp"
#include "tokens/static_tokens.hpp"
#include "tokens/token_test_kit.hpp"

namespace backplane::authentication {
namespace {

std::string header_of(const std::string& value) { return header_token(HeaderExchange(Headers{{"authorization", value}})).token; }

TEST(Bearer, IsReadFromTheHeaderAsUpstreamReadsIt) {
  EXPECT_EQ(header_of("Bearer abc"), "abc");
  EXPECT_EQ(header_of("  bEaReR abc  "), "abc");
  EXPECT_EQ(header_of("Bearer abc def"), "abc") << "the rest is not read";
  for (const char* none : {"", "Bearer", "Bearer ", "Basic abc", "Bearerabc", "Bearer\tabc"}) EXPECT_EQ(header_of(none), "") << none;
  const HeaderToken spaced = header_token(HeaderExchange(Headers{{"authorization", "Bearer  abc"}}));
  EXPECT_EQ(spaced.token, "");
  EXPECT_TRUE(spaced.extra_space);
}

std::string websocket_of(std::vector<std::string> protocols, const std::string& upgrade = "websocket") {
  Headers headers{{"connection", "keep-alive, Upgrade"}, {"upgrade", upgrade}};
  for (std::string& each : protocols) headers.emplace_back("sec-websocket-protocol", std::move(each));
  auto token = websocket_token(HeaderExchange(std::move(headers)));
  return token.ok() ? *token : token.status().message();
}

TEST(Bearer, IsReadFromAWebSocketSubprotocol) {
  const std::string good = "base64url.bearer.authorization.k8s.io." + kit::to_base64url("secret");
  EXPECT_EQ(websocket_of({good + ", v5.channel.k8s.io"}), "secret");
  EXPECT_EQ(websocket_of({"v5.channel.k8s.io", good}), "secret");
  EXPECT_EQ(websocket_of({"v5.channel.k8s.io"}), "");
  EXPECT_EQ(websocket_of({good + ",a"}, "h2c"), "") << "no WebSocket";
  EXPECT_EQ(websocket_of({good}), "missing additional subprotocol");
  EXPECT_EQ(websocket_of({good + ",a," + good}), "multiple base64.bearer.authorization tokens specified");
  EXPECT_EQ(websocket_of({good + "=,a"}), "invalid base64.bearer.authorization token encoding");
  EXPECT_EQ(websocket_of({"base64url.bearer.authorization.k8s.io." + kit::to_base64url("\xFF\xFE") + ",a"}),
            "invalid base64.bearer.authorization token");
}

std::string csv_of(std::string_view text) {
  const auto records = read_csv(text);
  if (!records.ok()) return records.status().message();
  std::string out;
  for (const auto& record : *records) {
    for (const std::string& field : record) out += "[" + field + "]";
    out += ";";
  }
  return out;
}

TEST(Csv, IsThatOfGo) {
  EXPECT_EQ(csv_of("a,b,c\n\nd,\"e,f\",\r\n"), "[a][b][c];[d][e,f][];");
  EXPECT_EQ(csv_of("\"a\"\"b\nc\",d"), "[a\"b\nc][d];");
  EXPECT_EQ(csv_of(" a, b"), "[ a][ b];");
  EXPECT_EQ(csv_of(""), "");
  EXPECT_EQ(csv_of("a,b\nc,d\"e\n"), "parse error on line 2, column 4: bare \" in non-quoted field");
  EXPECT_EQ(csv_of("\"a\"b,c\n"), "parse error on line 1, column 3: extraneous or missing \" in quoted-field");
  EXPECT_TRUE(csv_of("\"a\nb").starts_with("record on line 1; parse error on line 2")) << csv_of("\"a\nb");
}

std::string static_user(StaticTokens& tokens, const std::string& token) {
  TokenNotes notes;
  const auto found = result_of(tokens.authenticate(token, {}, notes));
  if (!found->has_value()) return "unknown";
  std::string out = (*found)->user.name + "/" + (*found)->user.uid;
  for (const std::string& group : (*found)->user.groups) out += "/" + group;
  return out;
}

TEST(StaticTokens, AreThoseOfTheFile) {
  test::QuietLogger logger;
  const auto made = StaticTokens::from_text("t1,jane,1,\"a,b\"\nt2,joe,2\n,empty,3\nt1,jack,4\n", "f", logger);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(static_user(**made, "t2"), "joe/2");
  EXPECT_EQ(static_user(**made, "t1"), "jack/4") << "the last one";
  for (const char* unknown : {"", "t", "t11", "T1"}) EXPECT_EQ(static_user(**made, unknown), "unknown") << unknown;
  EXPECT_EQ(StaticTokens::from_text("t,u\n", "f", logger).status().message(),
            "token file 'f' must have at least 3 columns (token, user name, user uid), found 2");
  EXPECT_EQ(StaticTokens::from_file("/absent", logger).status().message(), "open /absent: no such file or directory");
  EXPECT_EQ(StaticTokens::from_file("/", logger).status().message(), "read /: is a directory");
}

std::string secret(const std::map<std::string, std::string>& changes = {}, const std::string& more = "") {
  std::map<std::string, std::string> data{
      {"token-id", "abcdef"}, {"token-secret", "0123456789abcdef"}, {"usage-bootstrap-authentication", "true"}};
  for (const auto& [key, value] : changes) data[key] = value;
  Object encoded;
  for (const auto& [key, value] : data) encoded[key] = to_base64(value);
  return R"({"metadata":{"name":"bootstrap-token-abcdef")" + more + R"(},"type":"bootstrap.kubernetes.io/token","data":)" +
         to_json(encoded) + "}";
}

std::string bootstrap(const std::string& object, const std::string& token = "abcdef.0123456789abcdef") {
  test::QuietLogger logger;
  const auto objects = std::make_shared<FakeObjects>();
  if (!object.empty()) objects->put("secrets/kube-system/bootstrap-token-abcdef", object);
  BootstrapTokens tokens(objects, logger);
  TokenNotes notes;
  const auto found = result_of(tokens.authenticate(token, {}, notes));
  if (!found.ok() || !found->has_value()) return outcome(found);
  std::string out = (*found)->user.name;
  for (const std::string& group : (*found)->user.groups) out += " " + group;
  return out;
}

TEST(BootstrapTokens, AreThoseOfSecrets) {
  EXPECT_EQ(bootstrap(secret()), "system:bootstrap:abcdef system:bootstrappers");
  EXPECT_EQ(
      bootstrap(secret({{"auth-extra-groups", "system:bootstrappers:b,system:bootstrappers:a"}, {"expiration", "2999-01-01T00:00:00Z"}})),
      "system:bootstrap:abcdef system:bootstrappers system:bootstrappers:a system:bootstrappers:b");
}

TEST(BootstrapTokens, AreRefusedOtherwise) {
  for (const auto& [key, value] : std::map<std::string, std::string>{{"token-id", "abcdeg"},
                                                                     {"token-secret", "0123456789abcdeg"},
                                                                     {"usage-bootstrap-authentication", "yes"},
                                                                     {"expiration", "2001-01-01T00:00:00Z"},
                                                                     {"auth-extra-groups", "system:masters"}}) {
    EXPECT_EQ(bootstrap(secret({{key, value}})), "unknown") << key;
  }
  EXPECT_EQ(bootstrap(secret({{"expiration", "soon"}})), "unknown") << "a time that cannot be read has passed";
  EXPECT_EQ(bootstrap(secret({}, R"(,"deletionTimestamp":"2999-01-01T00:00:00Z")")), "unknown");
  std::string other_type = secret();
  other_type.replace(other_type.find("bootstrap.kubernetes.io/token"), 29, "Opaque");
  EXPECT_EQ(bootstrap(other_type), "unknown");
  EXPECT_EQ(bootstrap(""), "unknown");
  for (const char* token : {"abcdef.0123456789abcde", "abcdef-0123456789abcdef", "ABCDEF.0123456789abcdef", "abcdef.0123456789abcdef ",
                            "abcdef.0123456789abcdef0", "abc/ef.0123456789abcdef"}) {
    EXPECT_EQ(bootstrap(secret(), token), "unknown") << token;
  }
}

TEST(BootstrapTokens, AStorageThatFailsIsAnError) {
  test::QuietLogger logger;
  const auto objects = std::make_shared<FakeObjects>();
  objects->error = service_unavailable("not now");
  BootstrapTokens tokens(objects, logger);
  TokenNotes notes;
  EXPECT_EQ(outcome(result_of(tokens.authenticate("abcdef.0123456789abcdef", {}, notes))), "not now");
}

}  // namespace
}  // namespace backplane::authentication
