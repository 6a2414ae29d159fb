#include "config/reload.hpp"

#include <openssl/evp.h>

#include <array>
#include <chrono>

#include "backplane/core/metrics.hpp"
#include "backplane/kit/server_identity.hpp"
#include "backplane/kit/watched_file.hpp"

namespace backplane::authorization {
namespace {

struct ReloadMetrics {
  Metric& reloads = Metric::counter("apiserver_authorization_config_controller_automatic_reloads_total",
                                    "[BETA] Total number of automatic reloads of authorization configuration split by status and apiserver "
                                    "identity.",
                                    {"status", "apiserver_id_hash"});
  Metric& times = Metric::gauge("apiserver_authorization_config_controller_automatic_reload_last_timestamp_seconds",
                                "[BETA] Timestamp of the last automatic reload of authorization configuration split by status and "
                                "apiserver identity.",
                                {"status", "apiserver_id_hash"});
  Metric& info = Metric::gauge("apiserver_authorization_config_controller_last_config_info",
                               "[ALPHA] Information about the last applied authorization configuration with hash as label, split by "
                               "apiserver identity.",
                               {"apiserver_id_hash", "hash"});

  void reloaded(std::string_view status, std::string_view server) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    reloads.add({status, server});
    times.set({status, server}, std::chrono::duration<double>(now).count());
  }
};

ReloadMetrics& reload_metrics() {
  static ReloadMetrics all;
  return all;
}

std::string sha256_text(std::string_view text) {
  if (text.empty()) return {};
  std::array<unsigned char, 32> digest{};
  EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  std::string out = "sha256:";
  for (const unsigned char byte : digest) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    out.push_back(kDigits[byte >> 4]);
    out.push_back(kDigits[byte & 15]);
  }
  return out;
}

}  // namespace

ConfigurationReload::ConfigurationReload(Host& host, WebhookFactory factory, std::string file, std::string text, AuthorizationConfig config)
    : host_(host),
      factory_(std::move(factory)),
      file_(std::move(file)),
      text_(std::move(text)),
      server_hash_(sha256_text(kit::server_id(kit::host_name()))),
      current_(std::move(config)),
      config_hash_(sha256_text(text_)) {
  for (const AuthorizerConfig& each : current_.authorizers) {
    if (each.type != "Webhook") startup_types_.insert(each.type);
  }
  reload_metrics().info.set({server_hash_, config_hash_}, 1);
}

Task<void> ConfigurationReload::run(std::shared_ptr<ConfigurationReload> reload) {
  kit::WatchedFile file;
  file.path = reload->file_;
  kit::FileChanged changed = [reload](std::string text) { return reload->apply(std::move(text)); };
  kit::FileFailed failed = [reload](const Status& why) { reload->failed(why); };
  auto watching = kit::watch_file(reload->host_.stop_signal(), std::move(file), reload->text_, std::move(changed), std::move(failed));
  co_await std::move(watching);
}

Result<std::vector<AuthorizerPlace>> ConfigurationReload::load(const std::string& text, AuthorizationConfig& next) const {
  auto config = load_configuration(text, startup_types_);
  if (!config.ok()) return std::move(config).status();
  next = std::move(*config);
  if (next == current_) return std::vector<AuthorizerPlace>();
  for (const AuthorizerConfig& each : next.authorizers) {
    const bool plain = each.type == "Webhook" || each.type == "AlwaysAllow" || each.type == "AlwaysDeny";
    if (plain || startup_types_.contains(each.type)) continue;
    return bad_request("authorizer type " + each.type + " is not allowed if it was not enabled at initial server startup");
  }
  return factory_.places(next);
}

Task<bool> ConfigurationReload::apply(std::string text) {
  host_.logger().info("found new authorization config data");
  AuthorizationConfig next;
  Result<std::vector<AuthorizerPlace>> places;
  auto loading = run_blocking([&] { places = load(text, next); });
  co_await std::move(loading);
  if (places.ok() && next == current_) co_return true;
  Status status = places.ok() ? host_.set_authorizer_order(std::move(*places)) : std::move(places).status();
  if (!status.ok()) {
    failed(status);
    co_return true;
  }
  current_ = std::move(next);
  reload_metrics().reloaded("success", server_hash_);
  reload_metrics().info.forget({server_hash_, config_hash_});
  config_hash_ = sha256_text(text);
  reload_metrics().info.set({server_hash_, config_hash_}, 1);
  host_.logger().info("reloaded authz config");
  co_return true;
}

void ConfigurationReload::failed(const Status& why) const {
  host_.logger().error("reloading authorization config: " + why.message());
  reload_metrics().reloaded("failure", server_hash_);
}

}  // namespace backplane::authorization
