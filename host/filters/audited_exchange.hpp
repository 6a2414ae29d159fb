// The exchange of an audited request. It sends the audit events that the response causes, and measures how long writing the response takes.
//
// Thread-safety: like Exchange. Events are sent on the executor on which the object was created.
// Lifetime:      borrows the wrapped exchange, the context and the audit record.
// Errors:        those of the wrapped exchange.
#pragma once

#include "base/origin_executor.hpp"
#include "filters/audit_registrations.hpp"
#include "filters/filter_exchange.hpp"

namespace backplane {

class AuditedExchange final : public FilterExchange {
 public:
  // `starts`: the start of the response causes a ResponseStarted event, as for long-running requests.
  AuditedExchange(Exchange& inner, RequestContext& context, AuditedRequest& audited, bool starts)
      : FilterExchange(inner), context_(context), audited_(audited), starts_(starts), timed_(context.info.verb != "watch") {}

  Task<void> respond(int code, std::string_view content_type, std::vector<SharedBytes> body) override;
  Task<Status> start(int code, std::string_view content_type) override;
  Task<Status> write(std::vector<SharedBytes> chunks) override;
  Task<Status> switch_protocols(std::string_view protocol) override;

  // Sends the events that the response has not caused yet. `code`: the response code, or 0 if no response has begun. Returns false if the
  // caller must await AuditedRequest::store().
  bool complete(int code);

 private:
  Task<Status> write_timed(std::vector<SharedBytes> chunks);
  // Sends the events of the start of a response. `whole`: the response has no further parts. Returns false if the caller must await
  // AuditedRequest::store().
  bool begin(int code, bool whole);
  bool complete_now(int code);
  void annotate_latencies();

  const OriginExecutor origin_;
  RequestContext& context_;
  AuditedRequest& audited_;
  const bool starts_;
  const bool timed_;
  bool begun_ = false;
  bool completed_ = false;
};

}  // namespace backplane
