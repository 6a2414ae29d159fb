// WithRequestDeadline: sets the deadline of short requests. The timeout is --request-timeout, or ?timeout= if that is shorter. The timeout
// of writes is 34 s at most.
#include "endpoints/timed_out.hpp"
#include "filters/filters.hpp"
#include "filters/go_duration.hpp"

namespace backplane {
namespace {

class RequestDeadline final : public Filter {
 public:
  explicit RequestDeadline(const ChainConfig& config) : maximum_(config.request_timeout), audit_(config.audit) {}

  Step enter(FilterCall& call) const override {
    if (call.context.long_running) return Step::kNext;
    auto asked = asked_timeout(call.context.info);
    if (!asked.ok()) {
      call.refusal = Refusal{std::move(asked.status()), 0, {}, false, audit_};
      return Step::kRefuse;
    }
    const bool shorter = *asked > std::chrono::nanoseconds::zero() && *asked < maximum_;
    std::chrono::nanoseconds limit = shorter ? *asked : maximum_;
    if (is_object_write(call.context.info)) limit = std::min<std::chrono::nanoseconds>(limit, kLongestWrite);
    call.context.deadline = call.context.received + limit;
    return Step::kNext;
  }

 private:
  // Returns 0 if the client has not set a timeout.
  static Result<std::chrono::nanoseconds> asked_timeout(const RequestInfo& info) {
    const std::string_view text = query_get(info.query, "timeout");
    if (text.empty()) return std::chrono::nanoseconds{};
    auto parsed = parse_go_duration(text);
    if (!parsed.ok()) return bad_request("invalid timeout specified in the request URL - " + parsed.status().message());
    return *parsed;
  }

  const std::chrono::nanoseconds maximum_;
  const AuditRegistrations* const audit_;
};

}  // namespace

FilterPtr with_request_deadline(const ChainConfig& config) { return std::make_unique<RequestDeadline>(config); }

}  // namespace backplane
