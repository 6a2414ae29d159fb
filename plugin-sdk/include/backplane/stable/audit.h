// Audit sinks: plugins that receive audit events.
//
// An event is one stage of one request: an Event of audit.k8s.io/v1 as JSON on one line, without the newline, like a line of the log
// backend (--audit-log-path). The sink chooses the level and the stages, which apply to all requests; --audit-policy-file has no effect on
// a sink.
//
// Thread-safety: each sink has its own thread, on which write() and flush() are called one after another. They may wait. They must not call
// the server, because each call would cause a further event; such calls fail.
// Back pressure: the host queues the events of a sink and never waits for write() on a request's thread. A queue is full if it has
// `most_events` events or 64 MiB of objects. `when_full` determines what happens to an event if the queue is full.
// Order: the events of one request are written in the order of their stages.
// Lifetime: events are valid during the call. Otherwise as in base.h.
// Errors: see write().
//
// Made from plugin-sdk/stable/tables by generate.py; changes are overwritten.
#ifndef BACKPLANE_STABLE_AUDIT_H
#define BACKPLANE_STABLE_AUDIT_H

#include "backplane/stable/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// bp_audit_sink.level: audit.k8s.io/v1 Level. BP_AUDIT_REQUEST adds the object of the request, and BP_AUDIT_REQUEST_RESPONSE also that of
// the response.
#define BP_AUDIT_METADATA 1
#define BP_AUDIT_REQUEST 2
#define BP_AUDIT_REQUEST_RESPONSE 3
// Bits of bp_audit_sink.omit_stages: audit.k8s.io/v1 Stage.
#define BP_AUDIT_REQUEST_RECEIVED 1
#define BP_AUDIT_RESPONSE_STARTED 2
#define BP_AUDIT_RESPONSE_COMPLETE 4
#define BP_AUDIT_PANIC 8
// bp_audit_sink.when_full: what happens to an event if the queue is full. BP_AUDIT_DROP: the event is lost, and counted. BP_AUDIT_WAIT: the
// request waits until the event has been written, or is lost.
#define BP_AUDIT_DROP 0
#define BP_AUDIT_WAIT 1

// An audit sink. flush may be NULL. Filled by the plugin.
typedef struct bp_audit_sink {
  size_t struct_size;
  // The name in log lines and metrics. No other sink of the server may have the same name.
  bp_str name;
  void* self;
  // BP_AUDIT_METADATA, BP_AUDIT_REQUEST or BP_AUDIT_REQUEST_RESPONSE. The level applies to objects of all resources, including secrets.
  uint32_t level;
  // Bits of the stages for which no events are written; 0: none is omitted.
  uint32_t omit_stages;
  // 1: metadata.managedFields is removed from the objects.
  int32_t omit_managed_fields;
  // BP_AUDIT_DROP or BP_AUDIT_WAIT.
  uint32_t when_full;
  // The maximum number of events in the queue; 0: 10,000.
  uint32_t most_events;
  // The maximum number of events in one call of write(); 0: 400. A call also ends with the event that makes it larger than 1 MiB.
  uint32_t most_written;
  // Writes the next events, oldest first; there is at least one. After an error with the reason ServiceUnavailable or the code 503, the
  // host calls write() again with the same events, up to three times, after 0.1 s, 1 s and 5 s; further events are queued meanwhile. After
  // any other error, or after the last of these calls has failed, the events are lost: they are counted (apiserver_audit_error_total) and
  // logged. If a runner process ends during the call, the call counts as failed with ServiceUnavailable, so an event can be written twice.
  int32_t (*write)(void* self, const bp_str* events, size_t event_count, bp_error* error);
  // Called once, after the last write(), when the server stops or the plugin is replaced. The plugin writes the events that it has
  // buffered.
  int32_t (*flush)(void* self, bp_error* error);
} bp_audit_sink;

// Filled by the host.
#define BP_AUDIT_TABLE "backplane.audit"
#define BP_AUDIT_TABLE_VERSION 1
typedef struct bp_audit_table {
  size_t struct_size;
  // Adds a sink. Call it in provision.
  int32_t (*add)(bp_context* context, const bp_audit_sink* sink, bp_error* error);
} bp_audit_table;

#ifdef __cplusplus
}
#endif

#endif
