#include "base/origin_executor.hpp"
#include "endpoints/audit_notes.hpp"
#include "endpoints/creation.hpp"
#include "endpoints/json_scan.hpp"
#include "endpoints/respond.hpp"
#include "endpoints/sent_object.hpp"
#include "endpoints/verbs.hpp"

namespace backplane::endpoints {
namespace {

// If the storage returns a Status without a code, adds the code of the response.
ObjectRef with_code(ObjectRef object) {
  const SharedBytes owner = object->json();
  const std::string_view json = owner.view();
  if (raw_text(json, "kind") != "Status" || !raw_member(json, "code").empty() || !json.ends_with('}')) return object;
  return with_json(*object, std::string(json.substr(0, json.size() - 1)) + ",\"code\":201}");
}

}  // namespace

Task<Status> serve_named_create(const Resource& resource, RequestContext& context, Exchange& exchange) {
  const OriginExecutor origin;
  auto sent_object = co_await receive_object(resource, context, exchange);
  if (!sent_object.ok()) co_return std::move(sent_object.status());
  SentObject& received = *sent_object;
  note_request_object(resource, context, received.object);  // before the server changes the object
  Status status = match_namespace(resource.namespace_of(context), received.object);
  if (!status.ok()) co_return status;
  context.dry_run = received.options.dry_run;
  if (resource.fields != nullptr) co_await resource.fields->track_new(context, received.options, received.object);
  auto creating = create_admitted(resource, context, CreateCall::kNamed, context.info.name, received.object, std::move(received.options));
  auto created = co_await std::move(creating);
  co_await origin;
  if (!created.ok()) co_return std::move(created.status());
  auto sending = send_object(resource, context, exchange, received.answer, 201, with_code(std::move(*created)));
  status = co_await std::move(sending);
  co_return status;
}

}  // namespace backplane::endpoints
