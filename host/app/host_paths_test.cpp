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

// The paths of `routes` that a plugin could register.
std::vector<std::string> free_paths(const std::vector<PathRoute>& routes) {
  const auto taken = host_names();
  std::vector<std::string> found;
  for (const PathRoute& route : routes) {
    if (taken.count("path " + route.path) == 0 && check_not_reserved(route.path).ok()) found.push_back(route.path);
  }
  return found;
}

TEST(HostPaths, APluginCannotRegisterThePathsOfTheStoreThePluginsAndTheDebugger) {
  const auto store = make_memory_storage();
  NoExecutor executor;
  const std::vector<std::string> none;
  EXPECT_EQ(free_paths(store_routes(*store)), none);
  EXPECT_EQ(free_paths(
                plugin_routes({[] { return Array(); }, [](const PluginRequest&) { return Result<PluginActed>(PluginActed{}); }, executor})),
            none);
  EXPECT_EQ(free_paths(debug_routes([] { return std::vector<Activity>(); })), none);
  EXPECT_EQ(free_paths({{"/free", false, false, nullptr}}), std::vector<std::string>{"/free"});
}

}  // namespace
}  // namespace backplane
