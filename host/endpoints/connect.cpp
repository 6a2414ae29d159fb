#include "base/home.hpp"
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
  const Query query = request_query(exchange);
  if (query_has(query, "dryRun")) co_return bad_request("dryRun is not supported");
  const Home home;
  if (AdmissionRunner* admission = resource.scope.admission) {
    AdmissionAttributes attributes = attributes_of(resource, context);
    Status status = co_await admission->admit(attributes);
    co_await home;
    if (!status.ok()) co_return status;
    status = co_await admission->validate(attributes);
    co_await home;
    if (!status.ok()) co_return status;
  }
  co_await resource.connecter->connect(context, context.info.name, exchange);
  co_return Status();
}

}  // namespace backplane::endpoints
