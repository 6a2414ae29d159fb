#include "base/origin_executor.hpp"
#include "endpoints/body.hpp"
#include "endpoints/delete_options.hpp"
#include "endpoints/list_writer.hpp"
#include "endpoints/storage_admission.hpp"
#include "endpoints/verbs.hpp"

namespace backplane::endpoints {
namespace {

Status no_unread_collections() {
  FieldErrors errors;
  errors.invalid_raw(std::string(kIgnoreReadError), "true", "is not allowed with DELETECOLLECTION, try again after removing the option");
  return errors.to_status("meta.k8s.io", "DeleteOptions", "");
}

}  // namespace

Task<Status> serve_delete_collection(const Resource& resource, RequestContext& context, Exchange& exchange) {
  const OriginExecutor origin;
  auto media = negotiate(context, exchange, resource.offers);
  if (!media.ok()) co_return std::move(media.status());
  const Query& query = context.info.query;
  auto list = list_options(query, "");
  if (!list.ok()) co_return std::move(list.status());
  auto body = co_await read_request_body(resource, exchange, BodyVerb::kDeleteCollection);
  if (!body.ok()) co_return std::move(body.status());
  const bool unsafe = resource.scope.unsafe_deletes;
  auto options = delete_options_from_query(query, unsafe);
  if (!body->empty()) {
    auto format = negotiate_input(context, exchange);
    if (!format.ok()) co_return std::move(format.status());
    options = delete_options_from_body(context, *body, *format, unsafe);
  }
  if (!options.ok()) co_return std::move(options.status());
  if (options->ignore_read_error) co_return no_unread_collections();
  context.dry_run = options->dry_run;
  auto admitting = admit_remove(resource, context, "", *options);
  Status admitted = co_await std::move(admitting);
  co_await origin;
  if (!admitted.ok()) co_return admitted;
  auto removing = resource.collection_deleter->remove_collection(context, std::move(*options), std::move(*list));
  auto removed = co_await std::move(removing);
  co_await origin;
  if (!removed.ok()) co_return std::move(removed.status());
  auto sending = send_list(resource, context, exchange, *media, std::move(*removed));
  Status sent = co_await std::move(sending);
  co_return sent;
}

}  // namespace backplane::endpoints
