// WithPanicRecovery: catches exceptions, which are bugs of the server or of a plugin. The request gets 500, and the process continues.
#include "base/caught.hpp"
#include "filters/filters.hpp"
#include "filters/log.hpp"

namespace backplane {
namespace {

class PanicRecovery final : public Filter {
 public:
  Step enter(FilterCall&) const override { return Step::kAround; }

  Task<void> around(FilterCall& call, Rest rest) const override {
    Caught bug;
    try {
      co_await rest.run(call);
      co_return;
    } catch (...) {
      bug = caught();
    }
    Exchange& exchange = call.exchange();
    filters_log().error("apiserver panic'd method={} URI={:?} audit-ID={:?} error={:?}{}", exchange.method(), exchange.target(),
                        call.context.audit_id, bug.what, bug.stack);
    if (exchange.started()) {
      // The client must not take a partial response for a complete one, so the connection is aborted.
      exchange.abort();
      co_return;
    }
    exchange.set_response_header("X-Content-Type-Options", "nosniff");
    std::vector<SharedBytes> body;
    body.push_back(SharedBytes::from_static("This request caused apiserver to panic. Look in the logs for details.\n"));
    co_await exchange.respond(500, "text/plain; charset=utf-8", std::move(body));
  }
};

}  // namespace

FilterPtr with_panic_recovery(const ChainConfig&) { return std::make_unique<PanicRecovery>(); }

}  // namespace backplane
