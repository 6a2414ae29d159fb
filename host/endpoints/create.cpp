#include "base/origin_executor.hpp"
#include "endpoints/audit_notes.hpp"
#include "endpoints/creation.hpp"
#include "endpoints/handler_span.hpp"
#include "endpoints/respond.hpp"
#include "endpoints/sent_object.hpp"
#include "endpoints/sent_values.hpp"
#include "endpoints/verbs.hpp"

namespace backplane::endpoints {
namespace {

// Removes the metadata that only the server may set in a new object.
void wipe_system_fields(Object& object) {
  Value* metadata = find(object, "metadata");
  if (metadata == nullptr || !metadata->is_object()) return;
  for (const std::string_view key : {"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"}) {
    metadata->get_object().erase(key);
  }
}

}  // namespace

Task<Status> serve_create(const Resource& resource, RequestContext& context, Exchange& exchange) {
  const OriginExecutor origin;
  auto sent_object = co_await receive_object(resource, context, exchange);
  if (!sent_object.ok()) co_return std::move(sent_object.status());
  SentObject& received = *sent_object;
  note_request_object(resource, context, received.object);  // before the server changes the object
  wipe_system_fields(received.object);
  Status matched = match_namespace(resource.namespace_of(context), received.object);
  if (!matched.ok()) co_return matched;
  context.dry_run = received.options.dry_run;
  if (resource.fields != nullptr) co_await resource.fields->track_new(context, received.options, received.object);
  std::string name(meta_name(received.object));
  trace_step(context, "About to store object in database");
  auto creating = resource.admission == nullptr ? resource.creater->create(context, received.object, std::move(received.options))
                                                : create_admitted(resource, context, CreateCall::kCreate, std::move(name), received.object,
                                                                  std::move(received.options));
  auto created = co_await std::move(creating);
  if (!created.ok()) {
    trace_step(context, "Write to database call failed", "err", std::string_view(created.status().message()));
    quote_sent_values(created.status(), received.body, received.format, resource.schema);
    co_return std::move(created.status());
  }
  trace_step(context, "Write to database call succeeded", "len", static_cast<std::int64_t>(received.body.size()));
  co_await origin;
  trace_step(context, "About to write a response");
  auto sending = send_object(resource, context, exchange, received.answer, 201, std::move(*created));
  Status sent = co_await std::move(sending);
  trace_step(context, "Writing http response done");
  co_return sent;
}

}  // namespace backplane::endpoints
