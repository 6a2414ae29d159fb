// Controllers: informers, which keep the objects of a resource in memory, and a queue of keys, each worked on by one worker at a time and
// again later if that fails.
//
// A key is usually "namespace/name", or "name" for cluster-scoped objects.
// Thread-safety: reconcile() is called on threads of the plugin, one for each worker, and may call the server. event() is called on another
// thread, for one event after another, and must not wait.
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

// The objects of a resource, in memory, until the plugin is destroyed.
typedef struct bp_informer bp_informer;
// The keys that a controller has to work on, until the plugin is destroyed.
typedef struct bp_queue bp_queue;

// Events of one informer that put keys into the queue of a controller. Filled by the plugin.
typedef struct bp_watch {
  size_t struct_size;
  bp_informer* informer;
  void* self;
  // Puts keys into the queue. `old`: the object before a change, else empty. NULL: the key of the object is put into the queue.
  void (*event)(void* self, uint32_t type, bp_str object, bp_str old, bp_queue* queue);
} bp_watch;

// Filled by the plugin.
typedef struct bp_controller {
  size_t struct_size;
  bp_str name;
  void* self;
  // How many keys are worked on at a time; 0: one.
  uint32_t workers;
  const bp_watch* const* watches;
  size_t watch_count;
  // Compares the desired with the actual state of the object with this key, and acts on the difference. An error puts the key into the
  // queue again, after a pause that grows.
  int32_t (*reconcile)(void* self, bp_str key, bp_queue* queue, bp_error* error);
} bp_controller;

// Filled by the host.
#define BP_CONTROLLERS_TABLE "backplane.controllers"
#define BP_CONTROLLERS_TABLE_VERSION 1
typedef struct bp_controllers_table {
  size_t struct_size;
  // Both in provision. The same resource and namespace give the same informer. An empty `ns` is all namespaces.
  bp_informer* (*informer)(bp_context* context, const bp_resource* resource, bp_str ns, bp_error* error);
  // The controller runs from when the server listens and its informers have read all objects.
  int32_t (*add)(bp_context* context, const bp_controller* controller, bp_error* error);
  // This function and those below may be called on every thread, but not in provision. Returns the object with the key; NULL if there is
  // none.
  bp_text* (*get)(bp_informer* informer, bp_str key);
  // Calls visit() for each object until it returns other than 0, which is returned.
  int32_t (*each)(bp_informer* informer, void* self, int32_t (*visit)(void* self, bp_str key, bp_str object));
  // 1 when the informer has read all objects.
  int32_t (*synced)(bp_informer* informer);
  void (*enqueue)(bp_queue* queue, bp_str key);
  void (*enqueue_after)(bp_queue* queue, bp_str key, uint64_t milliseconds);
} bp_controllers_table;

#ifdef __cplusplus
}
#endif

#endif
