// The stable tier: declarations that every plugin needs (texts, errors, the entry point, and the host's first table).
//
// A plugin exports one function, backplane_stable_plugin(), which returns a bp_plugin. The host calls its functions configure, provision
// and validate, in this order. provision registers what the plugin implements, with tables of the host (bp_host.table). The host uses no
// registration before validate has returned 0.
//
// Errors: a function that can fail returns 0 for success. Otherwise it has filled the bp_error that the caller passed, which is never NULL.
// Lifetime: memory belongs to the side that allocated it. A bp_str argument is valid only during the call; the called function copies what
// it needs later.
// Tables, and everything to which a plugin's tables point, must be valid until the plugin's destroy() has returned.
// No exception, signal or longjmp may leave a function of a plugin.
//
// Thread-safety: the entry point, configure, provision, validate and destroy are called one after another. Other callbacks are called on
// any thread, several at the same time, unless their comment says otherwise. "On the request's thread" means that the callback must not
// wait: it reads no file, waits for no lock that may be held for long, and does not call the server. "On a thread of the plugin" means one
// of a few threads that the host uses only for this plugin: the callback may wait, and delays only other callbacks of this plugin.
//
// Made from plugin-sdk/stable/tables by generate.py; changes are overwritten.
#ifndef BACKPLANE_STABLE_BASE_H
#define BACKPLANE_STABLE_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Levels of bp_host.log. The server shows debug lines from -v=2 on.
#define BP_LOG_ERROR 0
#define BP_LOG_WARNING 1
#define BP_LOG_INFO 2
#define BP_LOG_DEBUG 3
// Flag of a registration: its callbacks may wait, so the host calls them on a thread of the plugin instead of the request's thread.
#define BP_BLOCKING 1

// The host's data about this plugin.
typedef struct bp_context bp_context;
// A callback writes its result to it; valid during the callback.
typedef struct bp_output bp_output;
// A text that the host has allocated for the plugin. The plugin releases it.
typedef struct bp_text bp_text;

// A text or other bytes, without a terminating NUL. `data` may be NULL if `size` is 0. Never changes.
typedef struct bp_str {
  const char* data;
  size_t size;
} bp_str;

// The error of a call. The caller sets all bytes to zero; the called function fills it. Never changes.
typedef struct bp_error {
  // The HTTP code; 0: the code that belongs to the reason.
  int32_t code;
  // A reason of metav1.Status, terminated by NUL ("NotFound", "Forbidden" …); empty: InternalError.
  char reason[32];
  // Terminated by NUL; a longer message is truncated.
  char message[988];
} bp_error;

// The first table of the host: the argument of bp_plugin.provision. Filled by the host.
typedef struct bp_host {
  size_t struct_size;
  // The plugin passes it as the first argument to functions of the host's tables.
  bp_context* context;
  // Returns the table with that name, or NULL if the host does not have at least that version of it. The constants BP_…_TABLE and
  // BP_…_TABLE_VERSION are the names and versions.
  const void* (*table)(bp_context* context, bp_str name, uint32_t version);
  // Writes a line to the log, with the plugin's name.
  void (*log)(bp_context* context, int32_t level, bp_str text);
  // Appends bytes to the result of a callback.
  void (*write)(bp_output* output, bp_str bytes);
  // Returns the bytes of a text; valid until the text is released.
  bp_str (*view)(const bp_text* text);
  // Releases a text; NULL is allowed.
  void (*release)(bp_text* text);
  // Returns the value of a flag of the server ("secure-port"); NULL if the flag is not set.
  bp_text* (*flag)(bp_context* context, bp_str name);
} bp_host;

// A plugin. Members other than provision may be NULL. Filled by the plugin.
typedef struct bp_plugin {
  size_t struct_size;
  // The first argument of the functions below.
  void* self;
  // Receives the plugin's configuration as JSON. In this release it is always empty.
  int32_t (*configure)(void* self, bp_str config, bp_error* error);
  // Registers what the plugin implements. `host` is valid until destroy() has returned.
  int32_t (*provision)(void* self, const bp_host* host, bp_error* error);
  // The last check before the registrations of all plugins take effect.
  int32_t (*validate)(void* self, bp_error* error);
  // The last call: afterwards the host calls no function of the plugin.
  void (*destroy)(void* self);
} bp_plugin;

// The entry point: the only symbol that a plugin exports. It creates the plugin and has no other effect. NULL and an error: it has failed.
#define BP_STABLE_ENTRY "backplane_stable_plugin"
__attribute__((visibility("default"))) const bp_plugin* backplane_stable_plugin(bp_error* error);

// BP_KNOWS: whether the side that has filled the table was compiled with the member. BP_HAS: also whether the member, a function or a
// pointer, is not NULL.
#define BP_KNOWS(table, type, member) ((table)->struct_size >= offsetof(type, member) + sizeof(((type*)0)->member))
#define BP_HAS(table, type, member) (BP_KNOWS(table, type, member) && (table)->member != NULL)

#ifdef __cplusplus
}
#endif

#endif
