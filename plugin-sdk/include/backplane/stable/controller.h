// Controllers. Informers cache the objects of a resource in memory. A queue contains keys; one worker at a time processes a key, and a key
// whose processing fails is processed again later.
//
// A key is usually "namespace/name", or "name" for cluster-scoped objects.
//
// Thread-safety: reconcile() is called on threads of the plugin, one for each worker, and may call the server. event() is called on another
// thread, for one event at a time, and must not wait.
// Lifetime, errors: base.h.
//
// Made from plugin-sdk/stable/tables by generate.py; changes are overwritten.
#ifndef BACKPLANE_STABLE_CONTROLLER_H
#define BACKPLANE_STABLE_CONTROLLER_H

#include "backplane/stable/client.h"

#ifdef __cplusplus
extern "C" {
#endif

// Types of events.
#define BP_ADDED 1
#define BP_MODIFIED 2
#define BP_DELETED 3

// The cached objects of a resource; valid until the plugin is destroyed.
typedef struct bp_informer bp_informer;
// The keys that a controller has to process; valid until the plugin is destroyed.
typedef struct bp_queue bp_queue;

// One informer of a controller. Its events add keys to the controller's queue. Filled by the plugin.
typedef struct bp_watch {
  size_t struct_size;
  bp_informer* informer;
  void* self;
  // Called for each event; adds keys to the queue. `old` is the object before a change, and empty for other events. If event is NULL, the
  // host adds the key of the object to the queue.
  void (*event)(void* self, uint32_t type, bp_str object, bp_str old, bp_queue* queue);
} bp_watch;

// Filled by the plugin.
typedef struct bp_controller {
  size_t struct_size;
  bp_str name;
  void* self;
  // The number of keys that are processed at the same time; 0: one.
  uint32_t workers;
  const bp_watch* const* watches;
  size_t watch_count;
  // Compares the desired state of the object with this key with its actual state, and acts on the difference. After an error, the host adds
  // the key to the queue again, after a pause that grows with each error.
  int32_t (*reconcile)(void* self, bp_str key, bp_queue* queue, bp_error* error);
} bp_controller;

// Filled by the host.
#define BP_CONTROLLERS_TABLE "backplane.controllers"
#define BP_CONTROLLERS_TABLE_VERSION 1
typedef struct bp_controllers_table {
  size_t struct_size;
  // Call both functions in provision. Calls with the same resource and namespace return the same informer. An empty `ns` means all
  // namespaces.
  bp_informer* (*informer)(bp_context* context, const bp_resource* resource, bp_str ns, bp_error* error);
  // Adds a controller. Its workers run when the server listens and the plugin's informers have read all objects.
  int32_t (*add)(bp_context* context, const bp_controller* controller, bp_error* error);
  // This function and those below may be called on every thread, but not in provision. Returns the object with the key; NULL if there is
  // none.
  bp_text* (*get)(bp_informer* informer, bp_str key);
  // Calls visit() for each object, until visit() returns a value other than 0. Returns that value, or 0.
  int32_t (*each)(bp_informer* informer, void* self, int32_t (*visit)(void* self, bp_str key, bp_str object));
  // Returns 1 if the informer has read all objects, otherwise 0.
  int32_t (*synced)(bp_informer* informer);
  void (*enqueue)(bp_queue* queue, bp_str key);
  void (*enqueue_after)(bp_queue* queue, bp_str key, uint64_t milliseconds);
} bp_controllers_table;

#ifdef __cplusplus
}
#endif

#endif
