// Paths outside of the API: paths that serve no API resources.
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
  // The path, such as "/census".
  bp_str path;
  // 1: the handler serves the path and every path below it.
  int32_t prefix;
  // 1: the response to GET / lists the path.
  int32_t listed;
  void* self;
  // The size of the largest request body; a larger body gets 413. 0: the body of a request is not read.
  size_t max_body;
  // Sends the response with respond(). If it returns an error, the host sends the error as a Status.
  int32_t (*handle)(void* self, bp_exchange* exchange, bp_error* error);
} bp_path;

// Filled by the host.
#define BP_HTTP_TABLE "backplane.http"
#define BP_HTTP_TABLE_VERSION 1
typedef struct bp_http_table {
  size_t struct_size;
  // Adds a path. Call it in provision.
  int32_t (*add)(bp_context* context, const bp_path* path, bp_error* error);
  // These return parts of the request, valid during the callback.
  bp_str (*method)(bp_exchange* exchange);
  bp_str (*target)(bp_exchange* exchange);
  bp_str (*body)(bp_exchange* exchange);
  // Returns the first value of a header; empty if the request does not have the header.
  bp_str (*header)(bp_exchange* exchange, bp_str name);
  const bp_user* (*user)(bp_exchange* exchange);
  // These set the response. Call add_header() before respond(), and respond() once.
  void (*add_header)(bp_exchange* exchange, bp_str name, bp_str value);
  void (*respond)(bp_exchange* exchange, int32_t code, bp_str content_type, bp_str body);
} bp_http_table;

#ifdef __cplusplus
}
#endif

#endif
