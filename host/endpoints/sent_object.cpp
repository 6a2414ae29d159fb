#include "endpoints/sent_object.hpp"

#include "base/offload_pool.hpp"
#include "base/origin_executor.hpp"
#include "endpoints/handler_span.hpp"
#include "endpoints/respond.hpp"
#include "endpoints/verb_options.hpp"

namespace backplane::endpoints {

Task<Result<SentObject>> receive_object(const Resource& resource, RequestContext& context, Exchange& exchange) {
  auto media = negotiate(context, exchange, resource.offers);
  if (!media.ok()) co_return std::move(media.status());
  auto format = negotiate_input(context, exchange);
  if (!format.ok()) co_return std::move(format.status());
  auto body = co_await read_request_body(resource, exchange, BodyVerb::kCreate);
  if (!body.ok()) co_return std::move(body.status());
  trace_step(context, "limitedReadBody succeeded", "len", static_cast<std::int64_t>(body->size()));
  auto options = write_options(context.info.query, WriteVerb::kCreate);
  if (!options.ok()) co_return std::move(options.status());
  // Only the decoding runs on the offload pool. Admission and the storage may belong to a plugin and use the exchange.
  const OriginExecutor origin;
  trace_step(context, "About to convert to expected version");
  const OffloadIfLarge offload(body->size());
  co_await offload;
  auto object = decode_object(resource, context, *body, *format, options->field_validation);
  co_await origin;
  if (!object.ok()) co_return std::move(object.status());
  trace_step(context, "Conversion done");
  // Constructed in place, because an assignment would copy the tree out of the request's arena.
  SentObject sent{*media, *format, std::move(*body), std::move(*options), std::move(*object)};
  co_return std::move(sent);
}

}  // namespace backplane::endpoints
