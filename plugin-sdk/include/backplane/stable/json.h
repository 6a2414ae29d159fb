// JSON documents that the host parses and stores, for plugins that link no JSON library.
//
// Paths are JSON pointers (RFC 6901): "/spec/slots", "/spec/containers/0/image". The empty path is the whole document.
//
// Thread-safety: only one thread at a time uses a document; the functions may be called on every thread.
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
  // Parses a text. Returns NULL and an error with the reason BadRequest if it is not JSON.
  bp_json* (*parse)(bp_str text, bp_error* error);
  // Releases a document; NULL is allowed.
  void (*release)(bp_json* json);
  // Returns the string at the path, valid until the document changes. `data` is NULL if there is no string at the path.
  bp_str (*get_string)(const bp_json* json, bp_str path);
  // Returns the integer at the path; `otherwise` if there is no integer at the path.
  int64_t (*get_int)(const bp_json* json, bp_str path, int64_t otherwise);
  // Returns 1 for true and 0 for false; `otherwise` if there is no boolean at the path.
  int32_t (*get_bool)(const bp_json* json, bp_str path, int32_t otherwise);
  // Returns the number of items of a list, or of members of an object; -1 if there is neither at the path.
  int64_t (*count)(const bp_json* json, bp_str path);
  // Returns 1 if there is a value at the path (it may be null), otherwise 0.
  int32_t (*has)(const bp_json* json, bp_str path);
  // Returns the value at the path as JSON; NULL if there is none.
  bp_text* (*get)(const bp_json* json, bp_str path);
  // The three functions set the value at the path. They create missing objects on the path. "-" instead of an index appends an item to a
  // list.
  int32_t (*set_string)(bp_json* json, bp_str path, bp_str value, bp_error* error);
  int32_t (*set_int)(bp_json* json, bp_str path, int64_t value, bp_error* error);
  int32_t (*set_json)(bp_json* json, bp_str path, bp_str value, bp_error* error);
  // Removes the member or the list item at the path. Without effect if there is none.
  void (*remove)(bp_json* json, bp_str path);
} bp_json_table;

#ifdef __cplusplus
}
#endif

#endif
