// WithAuthorization: may they.
#include "base/home.hpp"
#include "filters/filters.hpp"

namespace backplane {
namespace {

class WithAuthorization final : public Filter {
 public:
  explicit WithAuthorization(Authorization& authorization) : authorization_(authorization) {}

  Step enter(FilterCall& call) const override {
    auto known = authorization_.authorize_now(call.context);
    return known ? settle(call, *known) : Step::kAwait;
  }

  Task<Step> enter_slowly(FilterCall& call) const override {
    const AuthorizationAttributes attributes = authorization_attributes(call.context);
    const Home home;
    AuthorizerResult result = co_await authorization_.authorize(attributes);
    co_await home;
    co_return settle(call, result);
  }

 private:
  static Step settle(FilterCall& call, const AuthorizerResult& result) {
    // An authorizer may go wrong in part and still find the rule that allows it.
    if (result.decision == Decision::kAllow) return Step::kNext;
    if (!result.error.ok()) {
      call.refusal = Refusal::plain(500, "Internal Server Error: " + quoted(call.exchange->target()) + ": " + result.error.message());
      return Step::kRefuse;
    }
    call.exchange->set_response_header("X-Content-Type-Options", "nosniff");
    call.refusal = Refusal{forbidden_request(authorization_attributes(call.context), result.reason), 0, {}, false};
    return Step::kRefuse;
  }

  Authorization& authorization_;
};

}  // namespace

FilterPtr with_authorization(const ChainConfig& config) { return std::make_unique<WithAuthorization>(*config.authorization); }

}  // namespace backplane
