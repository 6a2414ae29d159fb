// Hooks that run at startup and shutdown, and health checks.
//
// Thread-safety: hooks and checks are called on a thread of the plugin, and may call the server.
// Lifetime, errors: base.h.
//
// Made from plugin-sdk/stable/tables by generate.py; changes are overwritten.
#ifndef BACKPLANE_STABLE_LIFECYCLE_H
#define BACKPLANE_STABLE_LIFECYCLE_H

#include "backplane/stable/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// Endpoints of a check: bits of bp_check.endpoints.
#define BP_HEALTHZ 1
#define BP_LIVEZ 2
#define BP_READYZ 4

// Filled by the plugin.
typedef struct bp_hook {
  size_t struct_size;
  // The name of the hook. A post-start hook has a check with the name poststarthook/NAME.
  bp_str name;
  void* self;
  int32_t (*run)(void* self, bp_error* error);
} bp_hook;

// Filled by the plugin.
typedef struct bp_check {
  size_t struct_size;
  bp_str name;
  void* self;
  uint32_t endpoints;
  // Returns 0 if the plugin is healthy. It is called for each request of the endpoints, so it should be quick.
  int32_t (*run)(void* self, bp_error* error);
} bp_check;

// Filled by the host.
#define BP_LIFECYCLE_TABLE "backplane.lifecycle"
#define BP_LIFECYCLE_TABLE_VERSION 1
typedef struct bp_lifecycle_table {
  size_t struct_size;
  // Call this function and the next two in provision. The hook runs after the server listens. Its check fails until the hook has succeeded.
  int32_t (*add_post_start)(bp_context* context, const bp_hook* hook, bp_error* error);
  // The hook runs when the server shuts down, or when the plugin is replaced.
  int32_t (*add_pre_shutdown)(bp_context* context, const bp_hook* hook, bp_error* error);
  int32_t (*add_check)(bp_context* context, const bp_check* check, bp_error* error);
  // Returns 1 after the server has begun to shut down, otherwise 0. A callback that runs for a long time should call it repeatedly. Any
  // thread may call it.
  int32_t (*stopping)(bp_context* context);
} bp_lifecycle_table;

#ifdef __cplusplus
}
#endif

#endif
