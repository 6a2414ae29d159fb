#include "base/home.hpp"
#include "endpoints/body.hpp"
#include "endpoints/delete_options.hpp"
#include "endpoints/json_scan.hpp"
#include "endpoints/respond.hpp"
#include "endpoints/verbs.hpp"

namespace backplane::endpoints {
namespace {

void append_detail(std::string& out, std::string_view key, std::string_view text) {
  if (text.empty()) return;
  if (out.back() != '{') out.push_back(',');
  append_json_string(out, key);
  out.push_back(':');
  append_json_string(out, text);
}

// The Status that says what has gone.
std::string removed_document(const Resource& resource, std::string_view name, const ObjectRef& object) {
  std::string out = R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","details":{)";
  append_detail(out, "name", name);
  append_detail(out, "group", resource.scope.resource.group);
  append_detail(out, "kind", resource.scope.resource.resource);
  if (object != nullptr) append_detail(out, "uid", raw_text(raw_member(object->json().view(), "metadata"), "uid"));
  return out.append("}}");
}

Result<DeleteOptions> read_options(RequestContext& context, const Exchange& exchange, std::string_view body) {
  if (body.empty()) return delete_options_from_query(request_query(exchange));
  auto format = negotiate_input(exchange);
  if (!format.ok()) return std::move(format.status());
  return delete_options_from_body(body, *format, context.arena());
}

}  // namespace

Task<Status> serve_delete(const Resource& resource, RequestContext& context, Exchange& exchange) {
  const Home home;
  auto media = negotiate(exchange, resource.offers);
  if (!media.ok()) co_return std::move(media.status());
  auto body = co_await read_request_body(exchange, resource.scope.max_body_bytes);
  if (!body.ok()) co_return std::move(body.status());
  auto options = read_options(context, exchange, *body);
  if (!options.ok()) co_return std::move(options.status());
  context.dry_run = options->dry_run;
  const bool cascades = options->orphan_dependents && !*options->orphan_dependents;
  auto removing = resource.deleter->remove(context, context.info.name, std::move(*options));
  auto removed = co_await std::move(removing);
  co_await home;
  if (!removed.ok()) co_return std::move(removed.status());
  // Clients that asked for cascading deletion in the old way learn that it has only begun; others rely on 200.
  const int code = !removed->deleted && cascades ? 202 : 200;
  if (removed->object != nullptr && (removed->return_object || !removed->deleted)) {
    auto sending = send_object(resource, context, exchange, *media, code, std::move(removed->object));
    Status sent = co_await std::move(sending);
    co_return sent;
  }
  std::string document = removed_document(resource, context.info.name, removed->object);
  auto sending = send_document(context, exchange, *media, code, std::move(document), status_schema());
  co_await std::move(sending);
  co_return Status();
}

}  // namespace backplane::endpoints
