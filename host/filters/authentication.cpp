// WithAuthentication: sets the user of the request.  Certificates and anonymous requests need no wait; plugins may need one.  Removes the
// headers with credentials, so that no handler can forward them.
#include <algorithm>
#include <exception>

#include "base/origin_executor.hpp"
#include "filters/filter_exchange.hpp"
#include "filters/filters.hpp"
#include "security/users.hpp"

namespace backplane {
namespace {

bool same_no_case(std::string_view text, std::string_view lower_case) {
  return std::equal(text.begin(), text.end(), lower_case.begin(), lower_case.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; });
}

// The headers with credentials for this server or for a front proxy; the inner filters and handlers do not get them.
bool is_credential(std::string_view header) {
  constexpr std::string_view kExtra = "x-remote-extra-";
  if (header.size() < 12) return false;
  for (const std::string_view name : {"authorization", "x-remote-user", "x-remote-group", "x-remote-uid"}) {
    if (same_no_case(header, name)) return true;
  }
  return same_no_case(header.substr(0, kExtra.size()), kExtra);
}

bool has_credentials(const Exchange& exchange) {
  const Headers& headers = exchange.headers();
  return std::any_of(headers.begin(), headers.end(), [](const Header& header) { return is_credential(header.first); });
}

class WithoutCredentials final : public FilterExchange {
 public:
  explicit WithoutCredentials(Exchange& behind) : FilterExchange(behind) {
    for (const Header& header : behind.headers()) {
      if (!is_credential(header.first)) headers_.push_back(header);
    }
  }
  std::string_view header(std::string_view name) const noexcept override {
    return is_credential(name) ? std::string_view() : behind().header(name);
  }
  const Headers& headers() const noexcept override { return headers_; }

 private:
  Headers headers_;
};

class WithAuthentication final : public Filter {
 public:
  explicit WithAuthentication(const ChainConfig& config)
      : authentication_(*config.authentication), audit_(config.audit), limit_unknown_(config.one_request_of_the_unknown) {}

  Step enter(FilterCall& call) const override {
    if (has_credentials(call.exchange())) return Step::kAround;
    auto known = authentication_.authenticate_now(call.context, call.exchange());
    return known ? settle(call, std::move(*known)) : Step::kAwait;
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
    // After an exception, too, the request continues on the connection's executor, which the other filters need.
    co_await origin;
    if (thrown) std::rethrow_exception(thrown);
    co_return settle(call, std::move(user));
  }

  Task<void> around(FilterCall& call, Rest rest) const override {
    const Step step = co_await enter_slowly(call);
    if (step == Step::kRefuse) {
      co_await rest.refuse(call);
      co_return;
    }
    WithoutCredentials stripped(call.exchange());
    const InFront in_front(call.context, stripped);
    co_await rest.run(call);
  }

 private:
  Step settle(FilterCall& call, Result<UserRef> user) const {
    const bool unknown = !user.ok() || (*user)->name == kAnonymousUser;
    // An anonymous client gets one request per HTTP/2 connection, so that each of many streams costs it a TLS handshake.
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
};

}  // namespace

FilterPtr with_authentication(const ChainConfig& config) { return std::make_unique<WithAuthentication>(config); }

}  // namespace backplane
