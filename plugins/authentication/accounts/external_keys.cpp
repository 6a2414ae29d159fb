#include "accounts/external_keys.hpp"

namespace backplane::authentication {
namespace {

Task<Status> start_keys(Host& host, std::shared_ptr<kit::ExternalSigner> signer, PostStartHookContext context) {
  Status started = co_await signer->start();
  if (started.ok()) host.spawn("external-verification-keys", signer->refresh(context.stop));
  co_return started;
}

}  // namespace

Result<std::shared_ptr<AccountKeys>> ExternalKeys::make(Host& host, const std::string& path) {
  auto client = kit::ExternalSigner::make_client(host, path);
  if (!client.ok()) return std::move(client).status();
  auto signer = std::make_shared<kit::ExternalSigner>(std::move(*client), host.logger());
  Status status = host.add_post_start_hook("start-external-verification-keys",
                                           [&host, signer](PostStartHookContext context) { return start_keys(host, signer, context); });
  if (!status.ok()) return status;
  return std::shared_ptr<AccountKeys>(std::make_shared<ExternalKeys>(std::move(signer)));
}

Task<std::shared_ptr<const kit::KeySet>> ExternalKeys::keys_for(std::string key_id) {
  const kit::ExternalSigner::KeysRef keys = co_await signer_->keys_for(std::move(key_id));
  co_return std::shared_ptr<const kit::KeySet>(keys, &keys->verifying);
}

}  // namespace backplane::authentication
