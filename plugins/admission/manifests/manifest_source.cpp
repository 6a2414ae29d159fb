#include "manifests/manifest_source.hpp"

#include <chrono>
#include <optional>

#include "backplane/core/metrics.hpp"
#include "backplane/core/task.hpp"
#include "backplane/kit/content_hash.hpp"
#include "backplane/kit/server_identity.hpp"
#include "backplane/points/hooks.hpp"
#include "manifests/manifest_files.hpp"

namespace backplane::admission::manifests {
namespace {

constexpr std::chrono::seconds kPollInterval{1};  // interval at which the metadata of the files is checked
constexpr std::chrono::seconds kReadEvery{60};    // interval at which the files are read even if their metadata is unchanged

Metric& reload_count() {
  static Metric& out = Metric::counter(
      "apiserver_manifest_admission_config_controller_automatic_reloads_total",
      "[ALPHA] Total number of automatic reloads of admission manifest configuration split by status, plugin, and apiserver identity.",
      {"status", "plugin", "apiserver_id_hash"});
  return out;
}
Metric& reload_time() {
  static Metric& out = Metric::gauge(
      "apiserver_manifest_admission_config_controller_automatic_reload_last_timestamp_seconds",
      "[ALPHA] Timestamp of the last automatic reload of admission manifest configuration split by status, plugin, and apiserver identity.",
      {"status", "plugin", "apiserver_id_hash"});
  return out;
}
Metric& config_info() {
  static Metric& out = Metric::gauge("apiserver_manifest_admission_config_controller_last_config_info",
                                     "[ALPHA] Information about the last applied admission manifest configuration with hash as label, "
                                     "split by plugin and apiserver identity.",
                                     {"plugin", "apiserver_id_hash", "hash"});
  return out;
}

}  // namespace

ManifestSource::ManifestSource(Host& host, ManifestKinds kinds, std::string_view plugin, std::string directory, Apply apply)
    : host_(host),
      kinds_(kinds),
      plugin_(plugin),
      directory_(std::move(directory)),
      server_(kit::content_hash(kit::server_id(kit::host_name()))),
      apply_(std::move(apply)) {}

Status ManifestSource::load() {
  auto objects = load_manifests(directory_, kinds_);
  if (!objects.ok()) return std::move(objects.status());
  take(*objects);
  return {};
}

void ManifestSource::take(const ManifestObjects& objects) {
  apply_(objects);
  if (shown_) config_info().forget({plugin_, server_, hash_});
  hash_ = objects.hash;
  shown_ = true;
  config_info().set({plugin_, server_, hash_}, 1);
  count(true);
  host_.logger().info("loaded admission manifests plugin=" + plugin_ +
                      " objects=" + std::to_string(objects.main.size() + objects.bindings.size()));
}

void ManifestSource::count(bool success) {
  const std::string_view status = success ? "success" : "failure";
  reload_count().add({status, plugin_, server_});
  reload_time().set({status, plugin_, server_}, std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count());
}

Task<void> ManifestSource::watch(std::shared_ptr<ManifestSource> source) {
  using Clock = std::chrono::steady_clock;
  Sleeper sleeper(source->host_.stop_signal());
  std::string last;  // empty, so that the first round reads the files: they may have changed since load()
  auto next_reading = Clock::now();
  for (;;) {
    std::string stamp;
    std::optional<Result<ManifestObjects>> objects;
    const bool due = Clock::now() >= next_reading;
    auto work = run_blocking([&] {
      stamp = stamp_of_directory(source->directory_);
      if (due || stamp != last) objects.emplace(load_manifests(source->directory_, source->kinds_));
    });
    co_await std::move(work);
    last = std::move(stamp);
    if (objects) next_reading = Clock::now() + kReadEvery;
    if (objects && !objects->ok()) {
      source->count(false);
      source->host_.logger().error("reloading admission manifests plugin=" + source->plugin_ + " dir=" + source->directory_ +
                                   " error=" + quoted(objects->status().message()));
    } else if (objects && (*objects)->hash != source->hash_) {
      source->take(**objects);
    }
    auto pause = sleeper.sleep(kPollInterval);
    const bool running = co_await std::move(pause);
    if (!running) co_return;
  }
}

}  // namespace backplane::admission::manifests
