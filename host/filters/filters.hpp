// The factories of the filters. Each filter has a file. A factory returns null if the configuration does not enable the filter.
//
// Lifetime:      filters borrow the objects to which the configuration points, and copy the rest of the configuration.
#pragma once

#include <memory>

#include "filters/handler_chain.hpp"

namespace backplane {

using FilterPtr = std::unique_ptr<Filter>;

FilterPtr with_audit_init(const ChainConfig& config);
FilterPtr with_panic_recovery(const ChainConfig& config);
FilterPtr with_mux_and_discovery_complete(const ChainConfig& config);
FilterPtr with_request_received_timestamp(const ChainConfig& config);
FilterPtr with_request_info(const ChainConfig& config);
FilterPtr with_http_logging(const ChainConfig& config);
FilterPtr with_retry_after(const ChainConfig& config);
FilterPtr with_hsts(const ChainConfig& config);
FilterPtr with_cache_control(const ChainConfig& config);
FilterPtr with_probabilistic_goaway(const ChainConfig& config);
FilterPtr with_watch_termination_during_shutdown(const ChainConfig& config);
FilterPtr with_wait_group(const ChainConfig& config);
FilterPtr with_request_deadline(const ChainConfig& config);
FilterPtr with_timeout_for_non_long_running_requests(const ChainConfig& config);
FilterPtr with_cors(const ChainConfig& config);
FilterPtr with_authentication(const ChainConfig& config);
FilterPtr with_tracing(const ChainConfig& config);
FilterPtr with_audit(const ChainConfig& config);
FilterPtr with_impersonation(const ChainConfig& config);
FilterPtr with_priority_and_fairness(const ChainConfig& config);
FilterPtr with_max_in_flight_limit(const ChainConfig& config);
FilterPtr with_authorization(const ChainConfig& config);

// Returns true for requests that are also served during the drain: health checks, metrics, and calls of the server to itself.
bool exempt_from_retry_after(const FilterCall& call) noexcept;

enum class AuditBegin : unsigned char { kAudited, kNotAudited, kFailed };
// Calls begin_audit(). kFailed: a policy threw an exception, and call.refusal is the response.
AuditBegin try_audit(const AuditRegistrations& registrations, FilterCall& call);

}  // namespace backplane
