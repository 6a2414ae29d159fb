// WithRequestInfo: parses the URL once for all inner filters and handlers.
#include "routing/request_info.hpp"

#include "filters/filters.hpp"

namespace backplane {
namespace {

class WithRequestInfo final : public Filter {
 public:
  Step enter(FilterCall& call) const override {
    Exchange& exchange = call.exchange();
    call.context.user_agent = exchange.header("user-agent");
    Status read = parse_request_info(exchange.method(), exchange.target(), call.context.info);
    if (!read.ok()) {
      call.context.info = {};
      call.refusal = read.code() == 400 ? Refusal{std::move(read), 0, {}, false}
                                        : Refusal::plain(500, "Internal Server Error: " + quoted(exchange.target()) +
                                                                  ": failed to create RequestInfo: " + read.message());
      return Step::kRefuse;
    }
    call.context.long_running = is_long_running(call.context.info);
    return Step::kNext;
  }
};

}  // namespace

FilterPtr with_request_info(const ChainConfig&) { return std::make_unique<WithRequestInfo>(); }

}  // namespace backplane
