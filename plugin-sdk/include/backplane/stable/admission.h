// Admission rules: change or refuse a write before it is stored.
//
// All rules' admit() are called before any rule's validate(); what validate() sees is what is stored.
// Thread-safety: callbacks are called on the request's thread; with BP_BLOCKING, on a thread of the plugin, on which they may call the
// server.
// Lifetime, errors: base.h.
//
// Made from plugin-sdk/stable/tables by generate.py; changes are overwritten.
#ifndef BACKPLANE_STABLE_ADMISSION_H
#define BACKPLANE_STABLE_ADMISSION_H

#include "backplane/stable/security.h"

#ifdef __cplusplus
extern "C" {
#endif

// Operations, as bits of bp_admission.operations.
#define BP_CREATE 1
#define BP_UPDATE 2
#define BP_DELETE 4
#define BP_CONNECT 8
// Flag of bp_admission: it runs only if --enable-admission-plugins names it.
#define BP_OFF_BY_DEFAULT 2

// The request of a write; valid during the callback.
typedef struct bp_request bp_request;

// Resources by name; "*" stands for all. An empty subresource is the resource itself. Never changes.
typedef struct bp_match {
  bp_str group;
  bp_str version;
  bp_str resource;
  bp_str subresource;
} bp_match;

// The write; valid during the callback. Objects are JSON, empty if there is none. Filled by the host.
typedef struct bp_write {
  size_t struct_size;
  bp_request* request;
  // One of BP_CREATE …
  uint32_t operation;
  int32_t dry_run;
  bp_str group;
  bp_str version;
  bp_str resource;
  bp_str subresource;
  bp_str kind;
  bp_str ns;
  // Empty on create with generateName, before validate().
  bp_str name;
  const bp_user* user;
  bp_str object;
  bp_str old_object;
} bp_write;

// An admission rule. admit or validate may be NULL. Filled by the plugin.
typedef struct bp_admission {
  size_t struct_size;
  // The name in --enable-admission-plugins and in metrics.
  bp_str name;
  void* self;
  // BP_BLOCKING, BP_OFF_BY_DEFAULT.
  uint32_t flags;
  uint32_t operations;
  // The resources for which it is called; none: all of them without subresources.
  const bp_match* matches;
  size_t match_count;
  // Its configuration of --admission-control-config-file, JSON; empty if there is none. Called once before the others.
  int32_t (*configure)(void* self, bp_str config, bp_error* error);
  // Writes a JSON patch (a list) or the changed object; nothing: no change. An error refuses the write, as in validate().
  int32_t (*admit)(void* self, const bp_write* write, bp_output* patch, bp_error* error);
  // An error refuses the write. If it has neither code nor reason, the response is 403 with kube-apiserver's text before the message.
  int32_t (*validate)(void* self, const bp_write* write, bp_error* error);
} bp_admission;

// Filled by the host.
#define BP_ADMISSION_TABLE "backplane.admission"
#define BP_ADMISSION_TABLE_VERSION 1
typedef struct bp_admission_table {
  size_t struct_size;
  // In provision.
  int32_t (*add)(bp_context* context, const bp_admission* rule, bp_error* error);
  // Adds a Warning header to the response.
  void (*warn)(bp_request* request, bp_str text);
  // Adds an annotation to the audit event. `key`: "domain/name".
  int32_t (*annotate)(bp_request* request, bp_str key, bp_str value, bp_error* error);
} bp_admission_table;

#ifdef __cplusplus
}
#endif

#endif
