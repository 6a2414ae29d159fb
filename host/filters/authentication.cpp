// WithAuthentication: sets the user of the request. enter() decides without waiting for certificates and anonymous requests; other
// authenticators may need enter_slowly(). The filter hides headers with credentials from the inner filters and the handler, so that they
// cannot forward them.
#include <algorithm>
#include <exception>

#include "base/origin_executor.hpp"
#include "filters/credential_headers.hpp"
#include "filters/filter_exchange.hpp"
#include "filters/filters.hpp"
#include "security/users.hpp"

namespace backplane {
namespace {

bool same_no_case(std::string_view text, std::string_view lower_case) {
  return std::equal(text.begin(), text.end(), lower_case.begin(), lower_case.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; });
}

constexpr std::string_view kProtocols = "sec-websocket-protocol";
constexpr std::string_view kTokenProtocol = "base64url.bearer.authorization.k8s.io.";

// Returns true if the header lists the subprotocols of a WebSocket handshake and one of them is a token.
bool has_token_protocol(const Header& header) {
  return same_no_case(header.first, kProtocols) && header.second.find(kTokenProtocol) != std::string::npos;
}

// Returns the subprotocols that are not tokens.
std::string without_tokens(std::string_view protocols) {
  std::string out;
  while (!protocols.empty()) {
    const std::size_t comma = std::min(protocols.find(','), protocols.size());
    std::string_view protocol = protocols.substr(0, comma);
    protocols.remove_prefix(std::min(comma + 1, protocols.size()));
    // Authenticators trim the same characters.
    constexpr std::string_view kSpace = " \t\r\n\v\f";
    protocol.remove_prefix(std::min(protocol.find_first_not_of(kSpace), protocol.size()));
    protocol.remove_suffix(protocol.size() - std::min(protocol.find_last_not_of(kSpace) + 1, protocol.size()));
    if (!protocol.starts_with(kTokenProtocol)) out.append(out.empty() ? "" : ",").append(protocol);
  }
  return out;
}

bool has_credentials(const CredentialHeaders& credentials, const Exchange& exchange) {
  const Headers& headers = exchange.headers();
  return std::any_of(headers.begin(), headers.end(),
                     [&](const Header& header) { return credentials.contains(header.first) || has_token_protocol(header); });
}

class WithoutCredentials final : public FilterExchange {
 public:
  // `credentials` must outlive the exchange.
  WithoutCredentials(Exchange& inner, const CredentialHeaders& credentials) : FilterExchange(inner), credentials_(credentials) {
    for (const Header& header : inner.headers()) {
      if (credentials.contains(header.first)) continue;
      headers_.push_back(header);
      if (has_token_protocol(header)) headers_.back().second = without_tokens(header.second);
    }
  }
  std::string_view header(std::string_view name) const noexcept override {
    if (credentials_.contains(name)) return {};
    if (!same_no_case(name, kProtocols)) return inner().header(name);
    const auto found =
        std::find_if(headers_.begin(), headers_.end(), [](const Header& each) { return same_no_case(each.first, kProtocols); });
    return found == headers_.end() ? std::string_view() : std::string_view(found->second);
  }
  const Headers& headers() const noexcept override { return headers_; }

 private:
  const CredentialHeaders& credentials_;
  Headers headers_;
};

class WithAuthentication final : public Filter {
 public:
  explicit WithAuthentication(const ChainConfig& config)
      : authentication_(*config.authentication),
        audit_(config.audit),
        limit_unknown_(config.close_after_unauthenticated),
        credentials_(config.request_header) {}

  Step enter(FilterCall& call) const override {
    if (has_credentials(credentials_, call.exchange())) return Step::kAround;
    auto known = authentication_.authenticate_now(call.context, call.exchange());
    return known ? finish(call, std::move(*known)) : Step::kAwait;
  }

  Task<Step> enter_slowly(FilterCall& call) const override {
    const OriginExecutor origin;
    Result<UserRef> user;
    std::exception_ptr thrown;
    try {
      user = co_await authentication_.authenticate(call.context, call.exchange());
    } catch (...) {
      thrown = std::current_exception();
    }
    // The other filters need the connection's executor, even after an exception.
    co_await origin;
    if (thrown) std::rethrow_exception(thrown);
    co_return finish(call, std::move(user));
  }

  Task<void> around(FilterCall& call, Rest rest) const override {
    const Step step = co_await enter_slowly(call);
    if (step == Step::kRefuse) {
      co_await rest.refuse(call);
      co_return;
    }
    WithoutCredentials stripped(call.exchange(), credentials_);
    const ExchangeScope exchange_scope(call.context, stripped);
    co_await rest.run(call);
  }

 private:
  Step finish(FilterCall& call, Result<UserRef> user) const {
    const bool unknown = !user.ok() || (*user)->name == kAnonymousUser;
    // An HTTP/2 connection ends after one anonymous or unauthenticated request, so that a client needs a TLS handshake for each such
    // request.
    if (limit_unknown_ && unknown && call.exchange().http_major() == 2) call.exchange().close_connection_after();
    if (!user.ok()) {
      call.refusal = Refusal{std::move(user.status()), 0, {}, false, audit_};
      return Step::kRefuse;
    }
    call.context.user = std::move(*user);
    return Step::kNext;
  }

  const Authentication& authentication_;
  const AuditRegistrations* const audit_;
  const bool limit_unknown_;
  const CredentialHeaders credentials_;
};

}  // namespace

FilterPtr with_authentication(const ChainConfig& config) { return std::make_unique<WithAuthentication>(config); }

}  // namespace backplane
