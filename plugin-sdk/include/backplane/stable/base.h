// The stable tier: what every plugin needs. Texts, errors, the entry point, the host's first table.
//
// A plugin exports one function, backplane_stable_plugin(), which returns its bp_plugin. The host calls configure, provision and validate
// of it, in this order; provision registers what the plugin has through tables of the host (bp_host.table). Nothing of it is in use before
// validate has returned 0.
//
// Errors: functions that can fail return 0 for success; otherwise they have filled the bp_error that the caller passed, which is never
// NULL.
// Lifetime: memory belongs to the side that made it: a bp_str that is passed to a function is borrowed for the call, and the called side
// copies what it keeps.
// Tables, and what a plugin's tables point to, live until the plugin's destroy() has returned.
// No exception, signal or longjmp may leave a function of a plugin.
//
// Thread-safety: entry point, configure, provision, validate and destroy are called one after another. Other callbacks are called by any
// thread, several at a time, unless their comment says otherwise. "On the request's thread" means that the callback must not wait: no file,
// no lock that is held for long, no call of the server. "On a thread of the plugin" means one of a few threads that the host keeps for this
// plugin alone: it may wait, and delays nothing but other callbacks of this plugin.
//
// Made from plugin-sdk/stable/tables by generate.py; changes are overwritten.
#ifndef BACKPLANE_STABLE_BASE_H
#define BACKPLANE_STABLE_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Levels of bp_host.log. Debug lines are shown from -v=2 on.
#define BP_LOG_ERROR 0
#define BP_LOG_WARNING 1
#define BP_LOG_INFO 2
#define BP_LOG_DEBUG 3
// Flags of a registration: its callbacks wait, so they are called on a thread of the plugin and not on the request's.
#define BP_BLOCKING 1

// This plugin, as the host knows it.
typedef struct bp_context bp_context;
// Where a callback writes its result; valid during the callback.
typedef struct bp_output bp_output;
// A text that the host has made for the plugin, which releases it.
typedef struct bp_text bp_text;

// Bytes, not terminated. `data` may be NULL if `size` is 0. Never changes.
typedef struct bp_str {
  const char* data;
  size_t size;
} bp_str;

// Why a call has failed. The caller provides it with zeros; the called side fills it. Never changes.
typedef struct bp_error {
  // The HTTP code; 0: that of the reason.
  int32_t code;
  // A reason of metav1.Status with its NUL ("NotFound", "Forbidden" …); empty: InternalError.
  char reason[32];
  // With its NUL; longer messages are cut.
  char message[988];
} bp_error;

// The first table, the argument of bp_plugin.provision. Filled by the host.
typedef struct bp_host {
  size_t struct_size;
  // The first argument of functions of the host's tables.
  bp_context* context;
  // The table with that name, if the host has at least that version of it; else NULL. Names and versions are the constants BP_…_TABLE.
  const void* (*table)(bp_context* context, bp_str name, uint32_t version);
  // Writes a line to the log, with the plugin's name.
  void (*log)(bp_context* context, int32_t level, bp_str text);
  // Appends to the result of a callback.
  void (*write)(bp_output* output, bp_str bytes);
  // The bytes of a text, until it is released.
  bp_str (*view)(const bp_text* text);
  // NULL is allowed.
  void (*release)(bp_text* text);
  // The value of a flag of the server ("secure-port"); NULL if it is not set.
  bp_text* (*flag)(bp_context* context, bp_str name);
} bp_host;

// A plugin. Members other than provision may be NULL. Filled by the plugin.
typedef struct bp_plugin {
  size_t struct_size;
  // The first argument of the functions below.
  void* self;
  // Receives the plugin's configuration, JSON. In this release it is always empty.
  int32_t (*configure)(void* self, bp_str config, bp_error* error);
  // Registers what the plugin has. `host` lives until destroy() has returned.
  int32_t (*provision)(void* self, const bp_host* host, bp_error* error);
  // The last check before the registrations of all plugins take effect.
  int32_t (*validate)(void* self, bp_error* error);
  // The last call: afterwards the host calls no function of the plugin.
  void (*destroy)(void* self);
} bp_plugin;

// The entry point, the only symbol that a plugin exports. It makes the plugin and does nothing else; NULL and an error if that fails.
#define BP_STABLE_ENTRY "backplane_stable_plugin"
__attribute__((visibility("default"))) const bp_plugin* backplane_stable_plugin(bp_error* error);

// Whether the side that has filled a table knows the member; BP_HAS: and has set it, for functions and pointers.
#define BP_KNOWS(table, type, member) ((table)->struct_size >= offsetof(type, member) + sizeof(((type*)0)->member))
#define BP_HAS(table, type, member) (BP_KNOWS(table, type, member) && (table)->member != NULL)

#ifdef __cplusplus
}
#endif

#endif
