#include "base/origin_executor.hpp"
#include "endpoints/handler_span.hpp"
#include "endpoints/respond.hpp"
#include "endpoints/verb_options.hpp"
#include "endpoints/verbs.hpp"

namespace backplane::endpoints {

Task<Status> serve_get(const Resource& resource, RequestContext& context, Exchange& exchange) {
  const OriginExecutor origin;
  auto media = negotiate(context, exchange, resource.offers);
  if (!media.ok()) co_return std::move(media.status());
  GetOptions options;
  if (exchange.target().find('?') != std::string_view::npos) {
    const Query& query = context.info.query;
    if (query_bool(query, "export").value_or(false)) {
      co_return bad_request("the export parameter, deprecated since v1.14, is no longer supported");
    }
    options.resource_version = query_get(query, "resourceVersion");
  }
  exported_step(context, "About to Get from storage");
  auto reading = resource.getter->get(context, context.info.name, std::move(options));
  auto object = co_await std::move(reading);
  co_await origin;
  if (!object.ok()) co_return std::move(object.status());
  trace_step(context, "About to write a response");
  auto sending = send_object(resource, context, exchange, *media, 200, std::move(*object));
  Status sent = co_await std::move(sending);
  exported_step(context, "Writing http response done");
  co_return sent;
}

}  // namespace backplane::endpoints
