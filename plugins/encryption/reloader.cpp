#include "reloader.hpp"

#include <algorithm>

#include "backplane/kit/watched_file.hpp"
#include "metrics.hpp"

namespace backplane::encryption {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kShortestTrial{10};
constexpr std::chrono::milliseconds kBetweenChecks{100};

// Waits until all plugins of a new configuration are healthy. Fails after setup->grace, but not before kShortestTrial.
Task<Outcome<Done>> become_healthy(SetupRef setup) {
  const auto deadline = Clock::now() + std::max<Clock::duration>(setup->grace, kShortestTrial);
  for (;;) {
    auto checking = setup->check();
    auto checked = co_await std::move(checking);
    if (checked.ok()) co_return Done();
    if (Clock::now() + kBetweenChecks >= deadline) {
      co_return Failure{"health check for new transformers failed, polling error timed out waiting for the condition: " +
                        checked.failure().text};
    }
    auto pause = sleep_for(kBetweenChecks);
    co_await std::move(pause);
  }
}

const kit::ReloadMetricTexts kReloads = {
    "apiserver_encryption_config_controller",
    "[ALPHA] Total number of reload successes and failures of encryption configuration split by apiserver identity.",
    "[ALPHA] Timestamp of the last successful or failed automatic reload of encryption configuration split by apiserver identity.",
    "[ALPHA] Information about the last applied encryption configuration with hash as label, split by apiserver identity."};

}  // namespace

Reloader::Reloader(Host& host, SetupContext context, SetupRef setup)
    : host_(host), context_(std::move(context)), current_(setup), metrics_(kReloads, context_.server_id_hash) {
  metrics_.in_effect(setup->hash);
}

void Reloader::failed(const std::string& why) {
  metrics_.reloaded(false);
  host_.logger().error("error processing encryption config file " + context_.path + ": " + why);
}

Task<Outcome<Done>> Reloader::replace(std::string content) {
  auto made = make_setup(host_, context_, content);
  OPENSSL_cleanse(content.data(), content.size());
  if (!made.ok()) co_return made.take_failure();
  const SetupRef setup = *made;
  auto trying = become_healthy(setup);
  auto healthy = co_await std::move(trying);
  if (!healthy.ok()) co_return healthy;
  if (Status status = host_.set_storage_transformers(setup->transformers); !status.ok()) co_return Failure{status.message()};
  current_.store(setup);
  co_return Done();
}

Task<bool> Reloader::changed(std::string content) {
  if (hash_text(content) == current()->hash) co_return true;
  auto replacing = replace(std::move(content));
  const auto replaced = co_await std::move(replacing);
  if (!replaced.ok()) {
    failed(replaced.failure().text);
    co_return false;
  }
  metrics_.reloaded(true);
  metrics_.in_effect(current()->hash);
  host_.logger().info("the encryption configuration has been reloaded path=" + context_.path + " hash=" + current()->hash);
  co_return true;
}

Task<void> Reloader::follow() {
  kit::WatchedFile file;
  file.path = context_.path;
  file.interval = kInterval;
  file.full_interval = kRetryInterval;
  auto watching = kit::watch_file(
      host_.stop_signal(), std::move(file), {}, [this](std::string content) { return changed(std::move(content)); },
      [this](const Status& why) {
        failed("error reading encryption provider configuration file " + backplane::quoted(context_.path) + ": " + why.message());
      });
  co_await std::move(watching);
}

}  // namespace backplane::encryption
