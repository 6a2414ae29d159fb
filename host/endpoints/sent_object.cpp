#include "endpoints/sent_object.hpp"

#include "base/offload_pool.hpp"
#include "base/origin_executor.hpp"
#include "endpoints/respond.hpp"
#include "endpoints/verb_options.hpp"

namespace backplane::endpoints {

Task<Result<SentObject>> receive_object(const Resource& resource, RequestContext& context, Exchange& exchange) {
  auto media = negotiate(context, exchange, resource.offers);
  if (!media.ok()) co_return std::move(media.status());
  auto format = negotiate_input(context, exchange);
  if (!format.ok()) co_return std::move(format.status());
  auto body = co_await read_request_body(exchange, resource.scope.max_body_bytes);
  if (!body.ok()) co_return std::move(body.status());
  auto options = write_options(context.info.query, WriteVerb::kCreate);
  if (!options.ok()) co_return std::move(options.status());
  // Admission and the storage may be a plugin's, which may use the exchange: only the decoding is offloaded.
  const OriginExecutor origin;
  const OffloadIfLarge offload(body->size());
  co_await offload;
  auto object = decode_object(resource, context, *body, *format, options->field_validation);
  co_await origin;
  if (!object.ok()) co_return std::move(object.status());
  // Made in one go: a tree that is assigned instead would be copied out of the request's arena.
  SentObject sent{*media, *format, std::move(*body), std::move(*options), std::move(*object)};
  co_return std::move(sent);
}

}  // namespace backplane::endpoints
