// JSON documents as handles, for plugins that link no JSON library.
//
// Paths are JSON pointers (RFC 6901): "/spec/slots", "/spec/containers/0/image"; empty: the whole document.
// Thread-safety: a document is used by one thread at a time; the functions may be called on every thread.
// Lifetime, errors: base.h.
//
// Made from plugin-sdk/stable/tables by generate.py; changes are overwritten.
#ifndef BACKPLANE_STABLE_JSON_H
#define BACKPLANE_STABLE_JSON_H

#include "backplane/stable/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// A parsed document, owned by the plugin.
typedef struct bp_json bp_json;

// Filled by the host.
#define BP_JSON_TABLE "backplane.json"
#define BP_JSON_TABLE_VERSION 1
typedef struct bp_json_table {
  size_t struct_size;
  // Parses a text; NULL and an error with reason BadRequest if it is not JSON.
  bp_json* (*parse)(bp_str text, bp_error* error);
  // NULL is allowed.
  void (*release)(bp_json* json);
  // The string at the path, until the document changes; `data` is NULL if there is none.
  bp_str (*get_string)(const bp_json* json, bp_str path);
  // The integer at the path; `otherwise` if there is none.
  int64_t (*get_int)(const bp_json* json, bp_str path, int64_t otherwise);
  // 1 or 0 for true and false at the path; `otherwise` if there is neither.
  int32_t (*get_bool)(const bp_json* json, bp_str path, int32_t otherwise);
  // The number of items of the list or of members of the object at the path; -1 if there is neither.
  int64_t (*count)(const bp_json* json, bp_str path);
  // 1 if there is a value at the path, null included; otherwise 0.
  int32_t (*has)(const bp_json* json, bp_str path);
  // The value at the path as JSON; NULL if there is none.
  bp_text* (*get)(const bp_json* json, bp_str path);
  // Each sets the value at the path, and creates missing objects on the path. "-" in place of an index appends to the list.
  int32_t (*set_string)(bp_json* json, bp_str path, bp_str value, bp_error* error);
  int32_t (*set_int)(bp_json* json, bp_str path, int64_t value, bp_error* error);
  int32_t (*set_json)(bp_json* json, bp_str path, bp_str value, bp_error* error);
  // Removes the member at the path; nothing happens if there is none.
  void (*remove)(bp_json* json, bp_str path);
} bp_json_table;

#ifdef __cplusplus
}
#endif

#endif
