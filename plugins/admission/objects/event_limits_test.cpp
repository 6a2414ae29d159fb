#include "objects/event_limits.hpp"

#include "objects/objects_test_kit.hpp"
#include "objects/rows.hpp"

namespace backplane::admission::test {
namespace {

using objects::EventLimit;
using namespace std::chrono_literals;

std::string config_text(std::string_view limits) {
  return R"({"apiVersion":"eventratelimit.admission.k8s.io/v1alpha1","kind":"Configuration","limits":[)" + std::string(limits) + "]}";
}

TEST(EventLimitConfig, IsCheckedLikeUpstream) {
  const auto problem = [](std::string_view limits) {
    auto config = objects::parse_event_limits(config_text(limits));
    return config.ok() ? std::string() : config.status().message();
  };
  EXPECT_EQ(problem(R"({"type":"Server","qps":1,"burst":2})"), "");
  EXPECT_EQ(problem(R"({"type":"Server","qps":1,"burst":2,"cacheSize":-1})"), "");
  EXPECT_EQ(problem(R"({"type":"User","qps":1,"burst":2,"cacheSize":-1})"), "limits[0].cacheSize: Invalid value: -1: must not be negative");
  EXPECT_EQ(problem(R"({"type":"Server","qps":0,"burst":0})"),
            "[limits[0].burst: Invalid value: 0: must be positive, limits[0].qps: Invalid value: 0: must be positive]");
  EXPECT_NE(problem(R"({"type":"Pod","qps":1,"burst":1})").find("limits[0].type: Unsupported value: \"Pod\""), std::string::npos);
  EXPECT_NE(problem(R"({"type":"Server","qps":1,"burst":1,"rate":1})").find("unknown field \"limits[0].rate\""), std::string::npos);
  EXPECT_EQ(objects::parse_event_limits("").status().message(), "limits: Invalid value: null: must not be empty");
  EXPECT_FALSE(objects::parse_event_limits(R"({"apiVersion":"eventratelimit.admission.k8s.io/v1","kind":"Configuration"})").ok());
}

// An event of a user about an object.
struct EventUnderTest : WriteUnderTest {
  explicit EventUnderTest(std::string_view about, std::string user = "u")
      : WriteUnderTest(
            {"", "v1", "Event"}, "events",
            R"({"metadata":{"name":"e"},"source":{"component":"c"},"involvedObject":{"name":")" + std::string(about) + R"("}})") {
    UserInfo info;
    info.name = std::move(user);
    attributes.user = UserRef(std::move(info));
  }
};

TEST(EventLimits, BucketsFillAgain) {
  std::chrono::steady_clock::time_point now{};
  EventLimit limit({"Namespace", 1, 2, 0}, [&now] { return now; });
  EventUnderTest event("a");
  EXPECT_FALSE(limit.accept(event.attributes));
  EXPECT_FALSE(limit.accept(event.attributes));
  EXPECT_EQ(limit.accept(event.attributes).value_or(""), "limit reached on type Namespace for key default");
  now += 1s;
  EXPECT_FALSE(limit.accept(event.attributes));
  EXPECT_TRUE(limit.accept(event.attributes));
}

TEST(EventLimits, EachKeyHasABucketUntilItIsForgotten) {
  const std::chrono::steady_clock::time_point now{};
  EventLimit limit({"SourceAndObject", 1, 1, 1}, [now] { return now; });
  EventUnderTest a("a"), b("b");
  EXPECT_FALSE(limit.accept(a.attributes));
  EXPECT_TRUE(limit.accept(a.attributes));
  EXPECT_FALSE(limit.accept(b.attributes));  // takes the only place
  EXPECT_FALSE(limit.accept(a.attributes));
}

TEST(EventRateLimit, RefusesEventsOfTheCoreGroup) {
  PluginUnderTest under;
  under.make(object_plugins(), "EventRateLimit", config_text(R"({"type":"Server","qps":1,"burst":1},{"type":"User","qps":1,"burst":1})"));
  EventUnderTest event("a", "jane");
  EXPECT_TRUE(under.validate(event.attributes).ok());
  event.attributes.dry_run = true;
  EXPECT_TRUE(under.validate(event.attributes).ok());
  event.attributes.dry_run = false;
  const Status refused = under.validate(event.attributes);
  EXPECT_EQ(refused.code(), 429);
  EXPECT_EQ(refused.reason(), Reason::kTooManyRequests);
  EXPECT_EQ(refused.message(), "Too many requests: [limit reached on type Server for key , limit reached on type User for key jane]");
  event.attributes.kind.group = "events.k8s.io";
  EXPECT_TRUE(under.validate(event.attributes).ok());
}

}  // namespace
}  // namespace backplane::admission::test
