#include "base/origin_executor.hpp"
#include "endpoints/audit_notes.hpp"
#include "endpoints/body.hpp"
#include "endpoints/delete_options.hpp"
#include "endpoints/handler_span.hpp"
#include "endpoints/json_scan.hpp"
#include "endpoints/log.hpp"
#include "endpoints/respond.hpp"
#include "endpoints/storage_admission.hpp"
#include "endpoints/verbs.hpp"
#include "security/authorization.hpp"

namespace backplane::endpoints {
namespace {

void append_detail(std::string& out, std::string_view key, std::string_view text) {
  if (text.empty()) return;
  if (out.back() != '{') out.push_back(',');
  append_json_string(out, key);
  out.push_back(':');
  append_json_string(out, text);
}

StatusDetails removed_details(const Resource& resource, std::string_view name, const ObjectRef& object) {
  StatusDetails details;
  details.name = name;
  details.group = resource.scope.resource.group;
  details.kind = resource.scope.resource.resource;
  if (object != nullptr) details.uid = raw_text(raw_member(object->json().view(), "metadata"), "uid");
  return details;
}

// Returns a Status document that names the deleted object.
std::string removed_document(const StatusDetails& details) {
  std::string out = R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{)";
  append_detail(out, "name", details.name);
  append_detail(out, "group", details.group);
  append_detail(out, "kind", details.kind);
  append_detail(out, "uid", details.uid);
  return out.append("}}");
}

Result<DeleteOptions> read_options(const Resource& resource, RequestContext& context, const Exchange& exchange, std::string_view body) {
  const bool unsafe = resource.scope.unsafe_deletes;
  if (body.empty()) return delete_options_from_query(context.info.query, unsafe);
  auto format = negotiate_input(context, exchange);
  if (!format.ok()) return std::move(format.status());
  return delete_options_from_body(context, body, *format, unsafe);
}

Status may_not(const RequestContext& context, std::string_view why) {
  const RequestInfo& info = context.info;
  return forbidden(info.api_group, info.resource, info.name, why);
}

// The removal of an object that cannot be decoded skips finalizers and preconditions, so it requires an additional permission.
Task<Status> may_delete_unread(const Resource& resource, RequestContext& context) {
  constexpr std::string_view kVerb = "unsafe-delete-ignore-read-errors";
  context.annotate("apiserver.k8s.io/unsafe-delete-ignore-read-error", "");
  if (resource.scope.authorizer == nullptr) co_return internal_error("no authorizer provided, unable to authorize unsafe delete");
  if (!context.info.subresource.empty()) {
    co_return may_not(context, std::string(kIgnoreReadError) + " delete option is not allowed on a subresource or non-resource request");
  }
  AuthorizationAttributes attributes = authorization_attributes(context);
  attributes.verb = kVerb;
  auto asking = resource.scope.authorizer->authorize(attributes);
  AuthorizerResult result = co_await std::move(asking);
  if (!result.error.ok()) {
    std::string why = "error while checking permission for " + quoted(kVerb) + ", " + result.error.message();
    co_return may_not(context, why);
  }
  if (result.decision == Decision::kAllow) co_return Status();
  std::string why = "not permitted to do " + quoted(kVerb) + ", reason: " + result.reason;
  co_return may_not(context, why);
}

}  // namespace

Task<Status> serve_delete(const Resource& resource, RequestContext& context, Exchange& exchange) {
  const OriginExecutor origin;
  auto media = negotiate(context, exchange, resource.offers);
  if (!media.ok()) co_return std::move(media.status());
  auto body = co_await read_request_body(resource, exchange, BodyVerb::kDelete);
  if (!body.ok()) co_return std::move(body.status());
  trace_step(context, "limitedReadBody succeeded", "len", static_cast<std::int64_t>(body->size()));
  auto options = read_options(resource, context, exchange, *body);
  if (!options.ok()) co_return std::move(options.status());
  trace_step(context, "Decoded delete options");
  const bool unread = options->ignore_read_error;
  if (unread) {
    auto asking = may_delete_unread(resource, context);
    Status allowed = co_await std::move(asking);
    if (!allowed.ok()) co_return allowed;
  }
  context.dry_run = options->dry_run;
  const bool cascades = options->orphan_dependents && !*options->orphan_dependents;
  auto admitting = admit_remove(resource, context, context.info.name, *options);
  Status admitted = co_await std::move(admitting);
  co_await origin;
  if (!admitted.ok()) co_return admitted;
  trace_step(context, "About to delete object from database");
  auto removing = resource.deleter->remove(context, context.info.name, std::move(*options));
  auto removed = co_await std::move(removing);
  co_await origin;
  trace_step(context, removed.ok() ? "Object deleted from database" : "Object not deleted from database");
  if (!removed.ok()) co_return std::move(removed.status());
  if (unread) endpoints_log().warn("removed an unreadable object on request path={}", context.info.path);
  // A client that requests cascading deletion by orphanDependents=false gets 202 if the deletion has only begun. Other clients expect 200.
  trace_step(context, "About to write a response");
  const int code = !removed->deleted && cascades ? 202 : 200;
  if (removed->object != nullptr && (removed->return_object || !removed->deleted)) {
    auto sending = send_object(resource, context, exchange, *media, code, std::move(removed->object));
    Status sent = co_await std::move(sending);
    trace_step(context, "Writing http response done");
    co_return sent;
  }
  StatusDetails details = removed_details(resource, context.info.name, removed->object);
  std::string document = removed_document(details);
  if (context.audit != nullptr) context.audit->success_details = std::move(details);
  auto sending = send_document(context, exchange, *media, code, std::move(document), status_schema());
  co_await std::move(sending);
  trace_step(context, "Writing http response done");
  co_return Status();
}

}  // namespace backplane::endpoints
