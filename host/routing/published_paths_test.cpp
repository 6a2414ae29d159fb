#include "routing/published_paths.hpp"

#include <gtest/gtest.h>

#include "backplane/core/request.hpp"

namespace backplane {
namespace {

class NoHandler final : public HttpHandler {
 public:
  Task<void> handle(RequestContext&, Exchange&) override { co_return; }
};

PathRoute route(std::string path, bool prefix, std::shared_ptr<HttpHandler> handler) {
  return PathRoute{std::move(path), prefix, true, std::move(handler)};
}

TEST(PublishedPaths, TheLongestPathThatFitsAnswers) {
  PublishedPaths paths;
  auto group = std::make_shared<NoHandler>(), version = std::make_shared<NoHandler>(), exact = std::make_shared<NoHandler>();
  EXPECT_EQ(paths.find("/apis/g"), nullptr);
  ASSERT_TRUE(paths.publish("a", route("/apis/g", true, group)).ok());
  ASSERT_TRUE(paths.publish("a", route("/apis/g/v1", true, version)).ok());
  ASSERT_TRUE(paths.publish("a", route("/metrics/own", false, exact)).ok());
  EXPECT_EQ(paths.find("/apis/g"), group);
  EXPECT_EQ(paths.find("/apis/g/"), group);
  EXPECT_EQ(paths.find("/apis/g/v2/things"), group);
  EXPECT_EQ(paths.find("/apis/g/v1/things/x"), version);
  EXPECT_EQ(paths.find("/apis/gg"), nullptr);
  EXPECT_EQ(paths.find("/metrics/own"), exact);
  EXPECT_EQ(paths.find("/metrics/own/below"), nullptr);
  EXPECT_EQ(paths.listed(), (std::vector<std::string>{"/apis/g", "/apis/g/v1", "/metrics/own"}));
}

TEST(PublishedPaths, APathIsReplacedAndWithdrawnOnlyByItsOwner) {
  PublishedPaths paths;
  auto first = std::make_shared<NoHandler>(), second = std::make_shared<NoHandler>();
  ASSERT_TRUE(paths.publish("a", route("/x", true, first)).ok());
  EXPECT_EQ(paths.publish("b", route("/x", true, second)).message(), "path \"/x\" is already handled by a");
  EXPECT_EQ(paths.withdraw("b", "/x").reason(), Reason::kNotFound);
  ASSERT_TRUE(paths.publish("a", route("/x", false, second)).ok());
  EXPECT_EQ(paths.find("/x"), second);
  EXPECT_EQ(paths.find("/x/y"), nullptr);
  EXPECT_TRUE(paths.withdraw("a", "/x").ok());
  EXPECT_EQ(paths.find("/x"), nullptr);
  EXPECT_EQ(paths.withdraw("a", "/x").reason(), Reason::kNotFound);
}

TEST(PublishedPaths, AWithdrawnHandlerLivesUntilItsLastUse) {
  PublishedPaths paths;
  ASSERT_TRUE(paths.publish("a", route("/x", true, std::make_shared<NoHandler>())).ok());
  std::weak_ptr<HttpHandler> weak;
  {
    auto held = paths.find("/x");
    weak = held;
    ASSERT_TRUE(paths.withdraw("a", "/x").ok());
    EXPECT_FALSE(weak.expired());
  }
  EXPECT_TRUE(weak.expired());
}

}  // namespace
}  // namespace backplane
