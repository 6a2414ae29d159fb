// The verbs, each in one file. A verb sends the response, or returns an error that its caller sends.
//
// Thread-safety: any number of requests at the same time, each on its executor.
#pragma once

#include "endpoints/resource.hpp"

namespace backplane::endpoints {

using Verb = Task<Status> (*)(const Resource& resource, RequestContext& context, Exchange& exchange);

Task<Status> serve_get(const Resource& resource, RequestContext& context, Exchange& exchange);
// GET of a collection. The caller uses serve_watch() if the request has ?watch=true.
Task<Status> serve_list(const Resource& resource, RequestContext& context, Exchange& exchange);
// A watch: ?watch=true, or a path below /watch/.
Task<Status> serve_watch(const Resource& resource, RequestContext& context, Exchange& exchange);
Task<Status> serve_create(const Resource& resource, RequestContext& context, Exchange& exchange);
// POST on a subresource of a named object.
Task<Status> serve_named_create(const Resource& resource, RequestContext& context, Exchange& exchange);
Task<Status> serve_update(const Resource& resource, RequestContext& context, Exchange& exchange);
Task<Status> serve_patch(const Resource& resource, RequestContext& context, Exchange& exchange);
Task<Status> serve_delete(const Resource& resource, RequestContext& context, Exchange& exchange);
Task<Status> serve_delete_collection(const Resource& resource, RequestContext& context, Exchange& exchange);
Task<Status> serve_connect(const Resource& resource, RequestContext& context, Exchange& exchange);
// GET of a storage that is a StreamGetter.
Task<Status> serve_stream(const Resource& resource, RequestContext& context, Exchange& exchange);

}  // namespace backplane::endpoints
