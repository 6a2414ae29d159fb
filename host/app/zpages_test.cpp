#include "app/zpages.hpp"

#include <gtest/gtest.h>

#include "backplane/core/json.hpp"
#include "endpoints/testing/harness.hpp"

namespace backplane {
namespace {

using testing::FakeExchange;
using testing::Response;

class ZPages : public ::testing::Test {
 protected:
  ZPages() { loop.start(); }
  ~ZPages() override { loop.stop(); }

  static Task<void> send(HttpHandler& handler, FakeExchange& exchange) {
    RequestContext context;
    context.exchange = &exchange;
    co_await handler.handle(context, exchange);
  }
  Response ask(HttpHandler& handler, const std::string& accept) {
    Headers headers;
    if (!accept.empty()) headers.emplace_back("Accept", accept);
    auto exchange = std::make_shared<FakeExchange>("GET", "/", std::move(headers), "");
    run_on(loop, send(handler, *exchange));
    return {exchange};
  }

  IoLoop loop{"test"};
  std::shared_ptr<HttpHandler> statusz = make_statusz_handler({}, [] { return std::vector<std::string>{"/api", "/livez"}; });
  std::shared_ptr<HttpHandler> flagz = make_flagz_handler({{"secure-port", "6443"}, {"v", "0"}});
};

TEST_F(ZPages, PeopleGetText) {
  for (const char* accept : {"", "*/*", "application/json, */*", "text/plain"}) {
    const Response response = ask(*flagz, accept);
    EXPECT_EQ(response.code(), 200) << accept;
    EXPECT_EQ(response.type(), "text/plain; charset=utf-8");
    EXPECT_TRUE(response.body().starts_with("\napiserver flagz\nWarning: This endpoint is not meant to be machine parseable"))
        << response.body();
    EXPECT_TRUE(response.body().ends_with("\n\nsecure-port=6443\nv=0\n")) << response.body();
  }
  const std::string text = ask(*statusz, "").body();
  EXPECT_NE(text.find("\nUp: 0 hr 00 min 0"), std::string::npos) << text;
  EXPECT_NE(text.find("\nBinary version: 1.36."), std::string::npos) << text;
  EXPECT_NE(text.find("\nEmulation version: 1.36\nPaths: /api /livez\n"), std::string::npos) << text;
}

TEST_F(ZPages, ARequestForTheKindGetsIt) {
  const Response response = ask(*statusz, "application/json;as=Statusz;g=config.k8s.io;v=v1beta1");
  ASSERT_EQ(response.code(), 200) << response.body();
  const Value tree = json::parse(response.body());
  EXPECT_EQ(get_string(tree.as_object(), "kind"), "Statusz");
  EXPECT_EQ(get_string(tree.as_object(), "apiVersion"), "config.k8s.io/v1beta1");
  EXPECT_EQ(tree.at("metadata").at("name"), "apiserver");
  EXPECT_EQ(tree.at("paths").as_array().size(), 2u);
  EXPECT_TRUE(tree.at("uptimeSeconds").is_int64());
  EXPECT_TRUE(response.warnings().empty());
  const Response yaml = ask(*flagz, "application/yaml; as=Flagz; g=config.k8s.io; v=v1beta1");
  EXPECT_EQ(yaml.type(), "application/yaml;g=config.k8s.io;v=v1beta1;as=Flagz");
  EXPECT_NE(yaml.body().find("\nflags:\n  secure-port: \"6443\"\n"), std::string::npos) << yaml.body();
}

TEST_F(ZPages, TheOldVersionHasAWarning) {
  const Response response = ask(*flagz, "application/json;v=v1alpha1;g=config.k8s.io;as=Flagz");
  EXPECT_EQ(response.code(), 200);
  ASSERT_EQ(response.warnings().size(), 1u);
  EXPECT_EQ(response.warnings()[0], "299 - \"config.k8s.io/v1alpha1 Flagz is deprecated, use v1beta1\"");
}

TEST_F(ZPages, ARequestForAnotherTypeIsRefused) {
  for (const char* accept : {"application/json", "application/json;as=Flagz", "application/json;as=Statusz;g=config.k8s.io;v=v1beta1",
                             "application/json;as=Flagz;g=config.k8s.io;v=v2", "application/cbor;as=Flagz;g=config.k8s.io;v=v1beta1"}) {
    EXPECT_EQ(ask(*flagz, accept).code(), 406) << accept;
  }
}

}  // namespace
}  // namespace backplane
