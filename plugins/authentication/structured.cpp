#include "structured.hpp"

namespace backplane::authentication {

Result<StructuredAuthentication> StructuredAuthentication::make(Host& host, const std::vector<std::shared_ptr<const SchemaSet>>& schemas,
                                                                const std::vector<std::string>& api_audiences) {
  StructuredAuthentication out;
  auto settings = read_jwt_settings(host);
  if (!settings.ok()) return std::move(settings).status();
  if (const auto& anonymous = settings->config.anonymous) out.anonymous_ = std::make_shared<AnonymousAuthenticator>(*anonymous);
  auto jwt = JwtController::make(host, std::move(*settings));
  if (!jwt.ok()) return std::move(jwt).status();
  out.jwt_ = std::move(*jwt);
  auto webhook = TokenWebhook::make(host, schemas, api_audiences);
  if (!webhook.ok()) return std::move(webhook).status();
  out.webhook_ = std::move(*webhook);
  return out;
}

std::vector<TokenUnion::Entry> StructuredAuthentication::token_sources() const {
  std::vector<TokenUnion::Entry> out;
  if (!jwt_->authenticators()->issuers()->empty() || jwt_->is_watching()) out.push_back({jwt_->authenticators(), true});
  if (webhook_) out.push_back({webhook_, false});
  return out;
}

}  // namespace backplane::authentication
