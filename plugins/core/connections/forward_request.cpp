#include "connections/forward_request.hpp"

#include <memory>

namespace backplane::core {
namespace {

Task<void> keep(std::shared_ptr<Status> kept, Status status) {
  *kept = std::move(status);
  co_return;
}

}  // namespace

Task<Status> forward_request(RequestContext& context, Exchange& exchange, ProxyCall call) {
  const auto kept = std::make_shared<Status>();
  call.answer_error = [kept](RequestContext&, Exchange&, Status status) { return keep(kept, std::move(status)); };
  co_await proxy(context, exchange, std::move(call));
  co_return std::move(*kept);
}

}  // namespace backplane::core
