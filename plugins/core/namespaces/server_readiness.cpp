#include "namespaces/server_readiness.hpp"

#include "backplane/core/json_access.hpp"

namespace backplane::core {
namespace {

constexpr std::chrono::milliseconds kReadyPause{100};

}  // namespace

Task<void> wait_until_ready(ApiClient& client, Signal& stop, const bool& stopped) {
  Sleeper sleeper(stop);
  bool running = !stop.fired();
  while (running && !stopped) {
    HttpCall call;
    call.target = "/readyz";
    auto ready = co_await client.http()->call(std::move(call));
    if (ready.ok() && (*ready)->code() == 200) co_return;
    running = co_await sleeper.sleep(kReadyPause);
  }
}

}  // namespace backplane::core
