#include "config/reload.hpp"

#include "backplane/kit/content_hash.hpp"
#include "backplane/kit/server_identity.hpp"
#include "backplane/kit/watched_file.hpp"

namespace backplane::authorization {
namespace {

const kit::ReloadMetricTexts kReloads = {
    "apiserver_authorization_config_controller",
    "[BETA] Total number of automatic reloads of authorization configuration split by status and apiserver identity.",
    "[BETA] Timestamp of the last automatic reload of authorization configuration split by status and apiserver identity.",
    "[ALPHA] Information about the last applied authorization configuration with hash as label, split by apiserver identity."};

}  // namespace

ConfigurationReload::ConfigurationReload(Host& host, WebhookFactory factory, std::string file, std::string text, AuthorizationConfig config)
    : host_(host),
      factory_(std::move(factory)),
      file_(std::move(file)),
      text_(std::move(text)),
      current_(std::move(config)),
      metrics_(kReloads, kit::content_hash(kit::server_id(kit::host_name()))) {
  for (const AuthorizerConfig& each : current_.authorizers) {
    if (each.type != "Webhook") startup_types_.insert(each.type);
  }
  metrics_.in_effect(kit::content_hash(text_));
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
  metrics_.reloaded(true);
  metrics_.in_effect(kit::content_hash(text));
  host_.logger().info("reloaded authz config");
  co_return true;
}

void ConfigurationReload::failed(const Status& why) {
  host_.logger().error("reloading authorization config: " + why.message());
  metrics_.reloaded(false);
}

}  // namespace backplane::authorization
