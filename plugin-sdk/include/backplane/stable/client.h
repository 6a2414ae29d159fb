// Calls of this server with Kubernetes' verbs, as the user system:apiserver. Objects are JSON.
//
// Thread-safety: call the functions on a thread of the plugin (base.h), or on a thread that the plugin has created. A call waits for the
// response, at most for half a minute. Calls on a request's thread, and calls in the entry point, configure, provision, validate and
// destroy, fail.
// Lifetime, errors: base.h.
//
// Made from plugin-sdk/stable/tables by generate.py; changes are overwritten.
#ifndef BACKPLANE_STABLE_CLIENT_H
#define BACKPLANE_STABLE_CLIENT_H

#include "backplane/stable/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// Types of patches.
#define BP_PATCH_JSON 1
#define BP_PATCH_MERGE 2
#define BP_PATCH_STRATEGIC 3

// A resource in one version. `group` is empty for the core group. Never changes.
typedef struct bp_resource {
  bp_str group;
  bp_str version;
  bp_str resource;
} bp_resource;

// Filled by the host.
#define BP_CLIENT_TABLE "backplane.client"
#define BP_CLIENT_TABLE_VERSION 1
typedef struct bp_client_table {
  size_t struct_size;
  // These return the server's response, which the caller releases, or NULL and the server's error. `ns` is empty for cluster-scoped
  // objects.
  bp_text* (*get)(bp_context* context, const bp_resource* resource, bp_str ns, bp_str name, bp_error* error);
  // Returns the whole collection as a list object. An empty `ns` means all namespaces. `labels` and `fields` are selectors, or empty.
  bp_text* (*list)(bp_context* context, const bp_resource* resource, bp_str ns, bp_str labels, bp_str fields, bp_error* error);
  bp_text* (*create)(bp_context* context, const bp_resource* resource, bp_str ns, bp_str object, bp_error* error);
  // `subresource`: "status" …; empty for the object itself.
  bp_text* (*update)(bp_context* context, const bp_resource* resource, bp_str ns, bp_str subresource, bp_str object, bp_error* error);
  bp_text* (*patch)(bp_context* context, const bp_resource* resource, bp_str ns, bp_str name, bp_str subresource, int32_t type,
                    bp_str patch, bp_error* error);
  // `options`: a DeleteOptions object, or empty.
  bp_text* (*remove)(bp_context* context, const bp_resource* resource, bp_str ns, bp_str name, bp_str options, bp_error* error);
} bp_client_table;

#ifdef __cplusplus
}
#endif

#endif
