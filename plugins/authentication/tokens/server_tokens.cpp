#include "tokens/server_tokens.hpp"

#include "accounts/account_tokens.hpp"
#include "accounts/external_keys.hpp"
#include "accounts/last_used_label.hpp"
#include "flag_list.hpp"
#include "tokens/bootstrap_tokens.hpp"
#include "tokens/static_tokens.hpp"

namespace backplane::authentication {
namespace {

bool flag_is(const Host& host, std::string_view name, std::string_view value) {
  return host.flag(name) == std::optional<std::string>(value);
}

Result<std::shared_ptr<AccountKeys>> account_keys(Host& host) {
  const std::string socket = host.flag("service-account-signing-endpoint").value_or("");
  if (!socket.empty()) return ExternalKeys::make(host, socket);
  std::vector<std::string> files = flag_list(host, "service-account-key-file");
  if (files.empty()) files = flag_list(host, "service-account-signing-key-file");
  if (files.empty()) return std::shared_ptr<AccountKeys>();
  auto keys = FileKeys::from_files(files);
  if (!keys.ok()) return std::move(keys).status();
  return std::shared_ptr<AccountKeys>(std::move(*keys));
}

Status add_account_tokens(Host& host, const std::shared_ptr<ObjectReader>& objects, std::vector<TokenUnion::Entry>& out) {
  auto keys = account_keys(host);
  if (!keys.ok()) return std::move(keys).status();
  if (*keys == nullptr) return {};
  const auto metrics = std::make_shared<const AccountMetrics>();
  const std::vector<std::string> audiences = api_audiences(host), issuers = flag_list(host, "service-account-issuer");
  auto legacy = make_legacy_validator(!flag_is(host, "service-account-lookup", "false"), objects,
                                      std::make_shared<LastUsedLabel>(host.client()), metrics, host.logger());
  out.push_back({std::make_shared<AccountTokens>("legacy-service-account-tokens", std::vector<std::string>{std::string(kLegacyIssuer)},
                                                 *keys, audiences, std::move(legacy), metrics)});
  if (issuers.empty()) return {};
  out.push_back({std::make_shared<AccountTokens>("service-account-tokens", issuers, *keys, audiences,
                                                 make_bound_validator(objects, metrics), metrics)});
  return {};
}

}  // namespace

std::vector<std::string> api_audiences(const Host& host) {
  std::vector<std::string> audiences = flag_list(host, "api-audiences");
  return audiences.empty() ? flag_list(host, "service-account-issuer") : audiences;
}

Result<std::vector<TokenUnion::Entry>> server_tokens(Host& host) {
  std::vector<TokenUnion::Entry> out;
  if (const std::string file = host.flag("token-auth-file").value_or(""); !file.empty()) {
    auto tokens = StaticTokens::from_file(file, host.logger());
    if (!tokens.ok()) return std::move(tokens).status();
    out.push_back({std::move(*tokens), true});
  }
  const auto objects = std::make_shared<StorageReader>(host);
  if (Status status = add_account_tokens(host, objects, out); !status.ok()) return status;
  if (flag_is(host, "enable-bootstrap-token-auth", "true")) {
    out.push_back({std::make_shared<BootstrapTokens>(objects, host.logger()), true});
  }
  return out;
}

}  // namespace backplane::authentication
