#include "accounts/token_issuer.hpp"

#include "backplane/types/durations.hpp"

namespace backplane::core {
namespace {

class FileIssuer final : public TokenIssuer {
 public:
  explicit FileIssuer(std::shared_ptr<const kit::TokenSigner> signer) : signer_(std::move(signer)) {}
  Task<Result<std::string>> sign(Object claims) override {
    Result<std::string> token;
    co_await run_blocking([&] { token = signer_->sign(claims); });
    co_return token;
  }

 private:
  const std::shared_ptr<const kit::TokenSigner> signer_;
};

class ExternalIssuer final : public TokenIssuer {
 public:
  explicit ExternalIssuer(std::shared_ptr<kit::ExternalSigner> signer) : signer_(std::move(signer)) {}
  Task<Result<std::string>> sign(Object claims) override {
    if (longest_seconds() == 0) co_return service_unavailable("the external signer has not been reached yet");
    auto token = co_await signer_->sign(to_json(claims));
    co_return token;
  }
  std::int64_t longest_seconds() const noexcept override { return signer_->longest_seconds(); }

 private:
  const std::shared_ptr<kit::ExternalSigner> signer_;
};

// Returns an error if --service-account-max-token-expiration exceeds the validity that the external process supports.
Status check_longest(const Host& host, const kit::ExternalSigner& signer) {
  const auto flag = parse_duration(host.flag("service-account-max-token-expiration").value_or("0s"));
  const std::int64_t seconds = flag ? std::chrono::duration_cast<std::chrono::seconds>(*flag).count() : 0;
  if (seconds <= signer.longest_seconds()) return {};
  return bad_request(
      "service-account-max-token-expiration cannot be set longer than the token expiration supported by "
      "service-account-signing-endpoint: " +
      std::to_string(seconds) + "s > " + std::to_string(signer.longest_seconds()) + "s");
}

Task<Status> start_signer(Host& host, std::shared_ptr<kit::ExternalSigner> signer, PostStartHookContext context) {
  Status started = co_await signer->start();
  if (started.ok()) started = check_longest(host, *signer);
  if (started.ok()) host.spawn("external-signer-keys", signer->refresh(context.stop));
  co_return started;
}

}  // namespace

std::shared_ptr<TokenIssuer> make_file_issuer(std::shared_ptr<const kit::TokenSigner> signer) {
  return std::make_shared<FileIssuer>(std::move(signer));
}

std::shared_ptr<TokenIssuer> make_external_issuer(std::shared_ptr<kit::ExternalSigner> signer) {
  return std::make_shared<ExternalIssuer>(std::move(signer));
}

Result<std::shared_ptr<kit::ExternalSigner>> external_signer(Host& host) {
  const std::string path = host.flag("service-account-signing-endpoint").value_or("");
  if (path.empty()) return std::shared_ptr<kit::ExternalSigner>();
  auto client = kit::ExternalSigner::make_client(host, path);
  if (!client.ok()) return std::move(client).status();
  auto signer = std::make_shared<kit::ExternalSigner>(std::move(*client), host.logger());
  Status status = host.add_post_start_hook("start-external-jwt-signer",
                                           [&host, signer](PostStartHookContext context) { return start_signer(host, signer, context); });
  if (!status.ok()) return status;
  return signer;
}

}  // namespace backplane::core
