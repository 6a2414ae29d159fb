#include "base/origin_executor.hpp"
#include "endpoints/handler_span.hpp"
#include "endpoints/list_writer.hpp"
#include "endpoints/verb_options.hpp"
#include "endpoints/verbs.hpp"

namespace backplane::endpoints {

Task<Status> serve_list(const Resource& resource, RequestContext& context, Exchange& exchange) {
  const OriginExecutor origin;
  auto media = negotiate(context, exchange, resource.offers);
  if (!media.ok()) co_return std::move(media.status());
  // A list request has a name if its field selector requires metadata.name=NAME.
  auto options = list_options(context.info.query, context.info.name);
  if (!options.ok()) co_return std::move(options.status());
  auto listing = resource.lister->list(context, std::move(*options));
  auto list = co_await std::move(listing);
  co_await origin;
  if (!list.ok()) co_return std::move(list.status());
  trace_step(context, "Listing from storage done");
  auto sending = send_list(resource, context, exchange, *media, std::move(*list));
  Status sent = co_await std::move(sending);
  co_return sent;
}

}  // namespace backplane::endpoints
