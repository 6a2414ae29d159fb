// WithAuthentication: who is asking.  A certificate or nobody is known at once; only plugins make a request wait.
#include "base/home.hpp"
#include "filters/filters.hpp"
#include "security/users.hpp"

namespace backplane {
namespace {

class WithAuthentication final : public Filter {
 public:
  explicit WithAuthentication(const Authentication& authentication) : authentication_(authentication) {}

  Step enter(FilterCall& call) const override {
    auto known = authentication_.authenticate_now(call.context, *call.exchange);
    return known ? settle(call, std::move(*known)) : Step::kAwait;
  }

  Task<Step> enter_slowly(FilterCall& call) const override {
    const Home home;
    auto user = co_await authentication_.authenticate(call.context, *call.exchange);
    co_await home;
    co_return settle(call, std::move(user));
  }

 private:
  static Step settle(FilterCall& call, Result<UserInfo> user) {
    const bool unknown = !user.ok() || user->name == kAnonymousUser;
    // Somebody we do not know gets one request per HTTP/2 connection: opening many streams costs them a handshake each.
    if (unknown && call.exchange->http_major() == 2) call.exchange->close_connection_after();
    if (!user.ok()) {
      call.refusal = Refusal{std::move(user.status()), 0, {}, false};
      return Step::kRefuse;
    }
    call.context.user = std::move(*user);
    return Step::kNext;
  }

  const Authentication& authentication_;
};

}  // namespace

FilterPtr with_authentication(const ChainConfig& config) { return std::make_unique<WithAuthentication>(*config.authentication); }

}  // namespace backplane
