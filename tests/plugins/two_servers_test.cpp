// Two servers in one process, each with a store, a port and plugins of its own.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "running_server.hpp"

namespace backplane {
namespace {

TEST(TwoServers, EachHasItsOwnObjectsAndPluginsAndOutlivesTheOther) {
  TemporaryDirectory plugins;
  std::filesystem::create_symlink(build_file("one"), plugins / "gadgets.so");
  auto first = std::make_unique<RunningServer>(plugins.path());
  RunningServer second(plugins.path());
  ASSERT_EQ(first->send("POST", std::string(kGadgets), gadget("a")).code, 201);
  ASSERT_EQ(second.send("POST", std::string(kGadgets), gadget("b")).code, 201);
  EXPECT_EQ(first->send("GET", std::string(kGadgets) + "/b").code, 404);
  EXPECT_EQ(second.send("GET", std::string(kGadgets) + "/a").code, 404);
  const Status replaced = second.parts().replace_plugin(kName, build_file("two"));
  ASSERT_TRUE(replaced.ok()) << replaced.message();
  EXPECT_EQ(first->build(), "one");
  EXPECT_EQ(second.build(), "two");
  first.reset();
  EXPECT_EQ(second.send("GET", std::string(kGadgets) + "/b").code, 200);
  EXPECT_EQ(second.send("GET", "/readyz").code, 200);
  // OpenAPI documents are generated on the pool that the servers share.
  EXPECT_EQ(second.send("GET", "/openapi/v3/apis/test.example.com/v1").code, 200);
  EXPECT_EQ(second.send("GET", "/metrics").code, 200);
  // A body of more than 128 KiB is processed on the offload pool.
  std::string large = gadget("large");
  large.insert(large.size() - 2, R"(,"annotations":{"text":")" + std::string(150'000, 'x') + R"("})");
  EXPECT_EQ(second.send("POST", std::string(kGadgets), large).code, 201);
}

// The lines of /metrics that start with `start`.
std::string metric_lines(RunningServer& server, const std::string& start) {
  std::istringstream lines(server.send("GET", "/metrics").body);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(start)) out += line + "\n";
  }
  return out;
}

TEST(TwoServers, EachCountsItsOwnRequests) {
  TemporaryDirectory plugins;
  std::filesystem::create_symlink(build_file("one"), plugins / "gadgets.so");
  auto first = std::make_unique<RunningServer>(plugins.path());
  RunningServer second(plugins.path());
  for (const char* name : {"a", "b", "c"}) ASSERT_EQ(first->send("POST", std::string(kGadgets), gadget(name)).code, 201);
  const std::string created =
      R"(apiserver_request_total{code="201",component="apiserver",dry_run="",group="test.example.com",resource="gadgets",scope="resource",)"
      R"(subresource="",verb="POST",version="v1"})";
  EXPECT_EQ(metric_lines(*first, created), created + " 3\n");
  EXPECT_EQ(metric_lines(second, created), "");
  ASSERT_EQ(second.send("POST", std::string(kGadgets), gadget("d")).code, 201);
  EXPECT_EQ(metric_lines(*first, created), created + " 3\n");
  EXPECT_EQ(metric_lines(second, created), created + " 1\n");
  // The caches and the store count on threads of their server too.
  const std::string events = R"(apiserver_watch_cache_events_received_total{group="test.example.com",resource="gadgets"})";
  EXPECT_EQ(metric_lines(*first, events), events + " 3\n");
  EXPECT_EQ(metric_lines(second, events), events + " 1\n");
  // Neither the end of one server nor a reset of its metrics changes those of the other.
  ASSERT_EQ(first->send("DELETE", "/metrics").code, 200);
  EXPECT_EQ(metric_lines(*first, created), "");
  EXPECT_EQ(metric_lines(second, created), created + " 1\n");
  first.reset();
  EXPECT_EQ(metric_lines(second, created), created + " 1\n");
  RunningServer third(plugins.path());
  EXPECT_EQ(metric_lines(third, created), "") << "a new server begins with no values";
}

TEST(TwoServers, CborIsOfferedByTheServerWhoseGateIsOn) {
  TemporaryDirectory plugins;
  std::filesystem::create_symlink(build_file("one"), plugins / "gadgets.so");
  RunningServer with(plugins.path(), {"--feature-gates=CBORServingAndStorage=true"});
  RunningServer without(plugins.path());
  const std::string missing = std::string(kGadgets) + "/none";
  EXPECT_EQ(with.send("GET", missing, "", "application/cbor").body.substr(0, 3), "\xd9\xd9\xf7");
  EXPECT_EQ(without.send("GET", missing, "", "application/cbor").body.substr(0, 1), "{");
}

}  // namespace
}  // namespace backplane
