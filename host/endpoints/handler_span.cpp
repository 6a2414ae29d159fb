#include "endpoints/handler_span.hpp"

namespace backplane::endpoints {
namespace {

struct SpanRow {
  Verb verb;
  const char* name;
};
constexpr SpanRow kSpans[] = {
    {serve_get, "Get"},
    {serve_list, "List"},
    {serve_watch, "WatchServer.HandleHTTP"},
    {serve_create, "Create"},
    {serve_update, "Update"},
    {serve_patch, "Patch"},
    {serve_delete, "Delete"},
    {serve_stream, "Get"},
    {serve_delete_collection, "Delete"},
    {serve_named_create, "Create"},
};

}  // namespace

const char* span_name(Verb verb) noexcept {
  for (const SpanRow& row : kSpans) {
    if (row.verb == verb) return row.name;
  }
  return nullptr;
}

void HandlerSpan::describe() {
  tracing::for_each_request_field(context_, [this](std::string_view key, std::string_view value) { span_.set(key, value); });
}

void describe_serialization(TraceSpan& span, const RequestContext& context, const Exchange& exchange, const MediaType& media) {
  if (!span.recorded()) return;
  span.set("audit-id", tracing::shown_audit_id(context));
  span.set("method", exchange.method());
  span.set("url", std::string_view(context.info.path));
  span.set("protocol", tracing::protocol_of(exchange));
  const std::string type(media.content_type());
  span.set("mediaType", std::string_view(type));
}

}  // namespace backplane::endpoints
