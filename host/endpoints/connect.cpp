#include "backplane/rest/connect.hpp"
#include "backplane/points/admission.hpp"

#include "base/origin_executor.hpp"
#include "endpoints/negotiation.hpp"
#include "endpoints/verb_options.hpp"
#include "endpoints/verbs.hpp"

namespace backplane::endpoints {
namespace {

AdmissionAttributes attributes_of(const Resource& resource, RequestContext& context) {
  AdmissionAttributes attributes =
      admission_attributes(context, AdmissionOperation::kConnect, resource.scope.resource, resource.scope.kind);
  attributes.subresource = resource.scope.subresource;
  attributes.ns = resource.namespace_of(context);
  attributes.name = context.info.name;
  return attributes;
}

}  // namespace

Task<Status> serve_connect(const Resource& resource, RequestContext& context, Exchange& exchange) {
  const Query& query = context.info.query;
  if (query_has(query, "dryRun")) co_return bad_request("dryRun is not supported");
  const OriginExecutor origin;
  OptionConnecter* const with_options = resource.option_connecter;
  Object options;
  if (with_options != nullptr) {
    auto read = with_options->read_options(context, query);
    if (!read.ok()) co_return bad_request(read.status().message());
    options = std::move(*read);
  }
  if (AdmissionRunner* admission = resource.scope.admission) {
    AdmissionAttributes attributes = attributes_of(resource, context);
    if (with_options != nullptr) attributes.object = &options;
    Status status = co_await admission->admit(attributes);
    co_await origin;
    if (!status.ok()) co_return status;
    status = co_await admission->validate(attributes);
    co_await origin;
    if (!status.ok()) co_return status;
  }
  if (with_options != nullptr) {
    Status done = co_await with_options->connect_with(context, context.info.name, std::move(options), exchange);
    co_return done;
  }
  co_await resource.connecter->connect(context, context.info.name, exchange);
  co_return Status();
}

// Errors are encoded like objects. As in upstream, a client that accepts none of the encodings therefore gets 406 before any other error.
Task<Status> serve_stream(const Resource& resource, RequestContext& context, Exchange& exchange) {
  const auto media = negotiate(context, exchange, resource.offers);
  if (!media.ok()) co_return media.status();
  Status done = co_await resource.stream_getter->get_stream(context, context.info.name, exchange);
  co_return done;
}

}  // namespace backplane::endpoints
