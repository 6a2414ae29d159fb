// WithRequestReceivedTimestamp: sets the time from which deadlines and latencies are measured.
#include "filters/filters.hpp"

namespace backplane {
namespace {

class RequestReceivedTimestamp final : public Filter {
 public:
  Step enter(FilterCall& call) const override {
    call.context.received = std::chrono::steady_clock::now();
    return Step::kNext;
  }
};

}  // namespace

FilterPtr with_request_received_timestamp(const ChainConfig&) { return std::make_unique<RequestReceivedTimestamp>(); }

}  // namespace backplane
