#include "config/webhooks.hpp"

#include "backplane/types/durations.hpp"
#include "webhook/webhook_authorizer.hpp"

namespace backplane::authorization {

Result<std::shared_ptr<Authorizer>> WebhookFactory::make(const std::string& name, const WebhookConfig& config) const {
  auto server = kit::read_kubeconfig(config.kubeconfig.value_or(""));
  if (!server.ok()) return std::move(server).status();
  kit::ReviewWebhookOptions options;
  options.timeout = std::chrono::ceil<std::chrono::milliseconds>(config.timeout);
  auto webhook = kit::ReviewWebhook::make(host_, std::move(*server), options);
  if (!webhook.ok()) return bad_request(config.kubeconfig.value_or("") + ": " + webhook.status().message());
  const auto timeout = parse_duration(host_.flag("request-timeout").value_or("")).value_or(std::chrono::minutes(1));
  return std::shared_ptr<Authorizer>(
      std::make_shared<WebhookAuthorizer>(name, config, std::move(*webhook), schemas_, timeout, host_.logger()));
}

Result<std::vector<AuthorizerPlace>> WebhookFactory::places(const AuthorizationConfig& config) const {
  std::vector<AuthorizerPlace> places;
  for (const AuthorizerConfig& each : config.authorizers) {
    AuthorizerPlace place{each.type, each.name, nullptr};
    if (each.webhook) {
      auto made = make(each.name, *each.webhook);
      if (!made.ok()) return std::move(made).status();
      place.authorizer = std::move(*made);
    }
    places.push_back(std::move(place));
  }
  return places;
}

Result<WebhookConfig> webhook_of_flags(const Host& host) {
  const auto ttl = [&](std::string_view flag) {
    return parse_duration(host.flag(flag).value_or("")).value_or(std::chrono::nanoseconds(0));
  };
  WebhookConfig config;
  config.kubeconfig = host.flag("authorization-webhook-config-file");
  config.review_version = host.flag("authorization-webhook-version").value_or("");
  config.authorized_ttl = ttl("authorization-webhook-cache-authorized-ttl");
  config.unauthorized_ttl = ttl("authorization-webhook-cache-unauthorized-ttl");
  config.timeout = std::chrono::seconds(30);
  config.failure_policy = "NoOpinion";
  if (config.review_version != "v1" && config.review_version != "v1beta1") {
    return bad_request("unsupported webhook authorizer version " + backplane::quoted(config.review_version) +
                       R"(, supported versions are "v1", "v1beta1")");
  }
  return config;
}

}  // namespace backplane::authorization
