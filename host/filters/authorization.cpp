// WithAuthorization: may they.
#include "filters/filters.hpp"

namespace backplane {
namespace {

class WithAuthorization final : public Filter {
 public:
  explicit WithAuthorization(const Authorization& authorization) : authorization_(authorization) {}

  Step enter(FilterCall& call) const override {
    auto known = authorization_.authorize_now(call.context);
    return known ? settle(call, *known) : Step::kAwait;
  }

  Task<Step> enter_slowly(FilterCall& call) const override {
    AuthorizerResult result = co_await authorization_.authorize(call.context);
    co_return settle(call, result);
  }

 private:
  static Step settle(FilterCall& call, const AuthorizerResult& result) {
    if (result.decision == Decision::kAllow) return Step::kNext;
    call.exchange->set_response_header("X-Content-Type-Options", "nosniff");
    call.refusal = Refusal{forbidden_request(call.context, result.reason), 0, {}, false};
    return Step::kRefuse;
  }

  const Authorization& authorization_;
};

}  // namespace

FilterPtr with_authorization(const ChainConfig& config) { return std::make_unique<WithAuthorization>(*config.authorization); }

}  // namespace backplane
