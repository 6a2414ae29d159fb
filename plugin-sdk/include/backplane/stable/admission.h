// Admission rules: change or refuse a write before it is stored.
//
// The host calls admit() of all rules before validate() of any rule. validate() receives the object as it is stored.
//
// Thread-safety: callbacks are called on the request's thread; with BP_BLOCKING, on a thread of the plugin, where they may call the server.
// Lifetime, errors: base.h.
//
// Made from plugin-sdk/stable/tables by generate.py; changes are overwritten.
#ifndef BACKPLANE_STABLE_ADMISSION_H
#define BACKPLANE_STABLE_ADMISSION_H

#include "backplane/stable/security.h"

#ifdef __cplusplus
extern "C" {
#endif

// Operations: bits of bp_admission.operations.
#define BP_CREATE 1
#define BP_UPDATE 2
#define BP_DELETE 4
#define BP_CONNECT 8
// Flag of bp_admission: the rule runs only if --enable-admission-plugins names it.
#define BP_OFF_BY_DEFAULT 2

// The request that makes a write; valid during the callback.
typedef struct bp_request bp_request;

// Names of resources; "*" matches every name. An empty subresource matches the resource itself. Never changes.
typedef struct bp_match {
  bp_str group;
  bp_str version;
  bp_str resource;
  bp_str subresource;
} bp_match;

// The write; valid during the callback. Objects are JSON without metadata.managedFields; empty if there is no object. Filled by the host.
typedef struct bp_write {
  size_t struct_size;
  bp_request* request;
  // BP_CREATE, BP_UPDATE, BP_DELETE or BP_CONNECT.
  uint32_t operation;
  int32_t dry_run;
  bp_str group;
  bp_str version;
  bp_str resource;
  bp_str subresource;
  bp_str kind;
  bp_str ns;
  // Empty in admit() on create if the object has generateName instead of a name.
  bp_str name;
  const bp_user* user;
  bp_str object;
  bp_str old_object;
} bp_write;

// An admission rule. admit or validate may be NULL. Filled by the plugin.
typedef struct bp_admission {
  size_t struct_size;
  // The name for --enable-admission-plugins and in metrics.
  bp_str name;
  void* self;
  // 0, or a combination of BP_BLOCKING and BP_OFF_BY_DEFAULT.
  uint32_t flags;
  uint32_t operations;
  // The resources for which the rule is called. If there are none, it is called for all resources, but not for subresources.
  const bp_match* matches;
  size_t match_count;
  // Receives the rule's configuration of --admission-control-config-file as JSON; empty if the file has none. Called once, before admit()
  // and validate().
  int32_t (*configure)(void* self, bp_str config, bp_error* error);
  // Writes a JSON patch (a list), the changed object, or nothing if the object has not changed. An error refuses the write, as in
  // validate().
  int32_t (*admit)(void* self, const bp_write* write, bp_output* patch, bp_error* error);
  // An error refuses the write. If the error has neither code nor reason, the response is a 403 that has kube-apiserver's text before the
  // message.
  int32_t (*validate)(void* self, const bp_write* write, bp_error* error);
} bp_admission;

// Filled by the host.
#define BP_ADMISSION_TABLE "backplane.admission"
#define BP_ADMISSION_TABLE_VERSION 1
typedef struct bp_admission_table {
  size_t struct_size;
  // Adds a rule. Call it in provision.
  int32_t (*add)(bp_context* context, const bp_admission* rule, bp_error* error);
  // Adds a Warning header to the response.
  void (*warn)(bp_request* request, bp_str text);
  // Adds an annotation to the audit event of the request. `key`: "domain/name".
  int32_t (*annotate)(bp_request* request, bp_str key, bp_str value, bp_error* error);
} bp_admission_table;

#ifdef __cplusplus
}
#endif

#endif
