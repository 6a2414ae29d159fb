#include "endpoints/body.hpp"
#include "endpoints/respond.hpp"
#include "endpoints/sent_values.hpp"
#include "endpoints/verb_options.hpp"
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
  auto media = negotiate(exchange, /*shapes=*/true);
  if (!media.ok()) co_return std::move(media.status());
  auto format = negotiate_input(exchange);
  if (!format.ok()) co_return std::move(format.status());
  auto body = co_await read_request_body(exchange, resource.scope.max_body_bytes);
  if (!body.ok()) co_return std::move(body.status());
  auto options = write_options(request_query(exchange), WriteVerb::kCreate);
  if (!options.ok()) co_return std::move(options.status());
  auto object = decode_object(resource, context, *body, *format, options->field_validation);
  if (!object.ok()) co_return std::move(object.status());
  wipe_system_fields(*object);
  Status matched = match_namespace(resource.namespace_of(context), *object);
  if (!matched.ok()) co_return matched;
  context.dry_run = options->dry_run;
  auto creating = resource.creater->create(context, *object, std::move(*options));
  auto created = co_await std::move(creating);
  if (!created.ok()) {
    quote_sent_values(created.status(), *body, *format);
    co_return std::move(created.status());
  }
  auto sending = send_object(resource, context, exchange, *media, 201, std::move(*created));
  Status sent = co_await std::move(sending);
  co_return sent;
}

}  // namespace backplane::endpoints
