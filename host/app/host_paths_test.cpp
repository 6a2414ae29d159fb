// Tests that a plugin cannot register a path that the host serves.
#include <gtest/gtest.h>

#include "app/debug_handlers.hpp"
#include "app/plugin_handler.hpp"
#include "app/server_parts.hpp"
#include "app/store_handler.hpp"
#include "backplane/core/task.hpp"
#include "routing/reserved_paths.hpp"
#include "storage/memory_storage.hpp"

namespace backplane {
namespace {

class NoExecutor final : public Executor {
 public:
  void post(std::function<void()>) override {}
  void post(std::coroutine_handle<>) override {}
  std::function<void()> after(std::chrono::nanoseconds, std::function<void()>) override {
    return [] {};
  }
};

void expect_reserved(const std::vector<PathRoute>& routes) {
  const auto taken = host_names();
  ASSERT_FALSE(routes.empty());
  for (const PathRoute& route : routes) {
    EXPECT_TRUE(taken.count("path " + route.path) == 1 || !check_not_reserved(route.path).ok()) << route.path;
  }
}

TEST(HostPaths, APluginCannotRegisterThePathsOfTheStoreThePluginsAndTheDebugger) {
  const auto store = make_memory_storage();
  NoExecutor executor;
  expect_reserved(store_routes(*store));
  expect_reserved(
      plugin_routes({[] { return Array(); }, [](const PluginRequest&) { return Result<PluginActed>(PluginActed{}); }, executor}));
  expect_reserved(debug_routes([] { return std::vector<Activity>(); }));
}

}  // namespace
}  // namespace backplane
