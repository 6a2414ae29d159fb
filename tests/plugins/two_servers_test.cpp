// Two servers in one process, each with a store, a port and plugins of its own.
#include <gtest/gtest.h>

#include <filesystem>

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
  // Documents are made on the threads that the servers have shared.
  EXPECT_EQ(second.send("GET", "/openapi/v3/apis/test.example.com/v1").code, 200);
  EXPECT_EQ(second.send("GET", "/metrics").code, 200);
  // A body of more than 128 KiB is processed on the offload pool.
  std::string large = gadget("large");
  large.insert(large.size() - 2, R"(,"annotations":{"text":")" + std::string(150'000, 'x') + R"("})");
  EXPECT_EQ(second.send("POST", std::string(kGadgets), large).code, 201);
}

}  // namespace
}  // namespace backplane
