#include "base/origin_executor.hpp"
#include "endpoints/audit_notes.hpp"
#include "endpoints/creation.hpp"
#include "endpoints/respond.hpp"
#include "endpoints/sent_object.hpp"
#include "endpoints/sent_values.hpp"
#include "endpoints/verbs.hpp"

namespace backplane::endpoints {
namespace {

// What only the server may say of a new object.
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
  note_request_object(context, received.object);  // as it was sent
  wipe_system_fields(received.object);
  Status matched = match_namespace(resource.namespace_of(context), received.object);
  if (!matched.ok()) co_return matched;
  context.dry_run = received.options.dry_run;
  if (resource.fields != nullptr) co_await resource.fields->track_new(context, received.options, received.object);
  if (resource.admission != nullptr) {
    auto admitting = admit_create(resource, context, std::string(meta_name(received.object)), received.object, received.options);
    Status admitted = co_await std::move(admitting);
    co_await origin;
    if (!admitted.ok()) co_return admitted;
  }
  auto creating = resource.creater->create(context, received.object, std::move(received.options));
  auto created = co_await std::move(creating);
  if (!created.ok()) {
    quote_sent_values(created.status(), received.body, received.format, resource.schema);
    co_return std::move(created.status());
  }
  co_await origin;
  auto sending = send_object(resource, context, exchange, received.answer, 201, std::move(*created));
  Status sent = co_await std::move(sending);
  co_return sent;
}

}  // namespace backplane::endpoints
