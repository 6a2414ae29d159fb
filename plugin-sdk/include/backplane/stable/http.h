// Paths outside of the API.
//
// Thread-safety: handlers are called on a thread of the plugin.
// Lifetime, errors: base.h.
//
// Made from plugin-sdk/stable/tables by generate.py; changes are overwritten.
#ifndef BACKPLANE_STABLE_HTTP_H
#define BACKPLANE_STABLE_HTTP_H

#include "backplane/stable/security.h"

#ifdef __cplusplus
extern "C" {
#endif

// A request and its response; valid during the callback.
typedef struct bp_exchange bp_exchange;

// Filled by the plugin.
typedef struct bp_path {
  size_t struct_size;
  // "/census"
  bp_str path;
  // 1: the path and all below it.
  int32_t prefix;
  // 1: GET / shows it.
  int32_t listed;
  void* self;
  // The largest body of a request; larger ones get 413. 0: requests have no body.
  size_t max_body;
  // Sends the response by respond(). An error is sent as a Status.
  int32_t (*handle)(void* self, bp_exchange* exchange, bp_error* error);
} bp_path;

// Filled by the host.
#define BP_HTTP_TABLE "backplane.http"
#define BP_HTTP_TABLE_VERSION 1
typedef struct bp_http_table {
  size_t struct_size;
  // In provision.
  int32_t (*add)(bp_context* context, const bp_path* path, bp_error* error);
  // The request, valid during the callback.
  bp_str (*method)(bp_exchange* exchange);
  bp_str (*target)(bp_exchange* exchange);
  bp_str (*body)(bp_exchange* exchange);
  // Empty if the request does not have it.
  bp_str (*header)(bp_exchange* exchange, bp_str name);
  const bp_user* (*user)(bp_exchange* exchange);
  // The response: headers before respond(), which is called once.
  void (*add_header)(bp_exchange* exchange, bp_str name, bp_str value);
  void (*respond)(bp_exchange* exchange, int32_t code, bp_str content_type, bp_str body);
} bp_http_table;

#ifdef __cplusplus
}
#endif

#endif
