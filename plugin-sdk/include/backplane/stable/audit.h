// Audit sinks: they receive the events of audited requests.
//
// An event is one stage of one request, as an Event of audit.k8s.io/v1 in JSON on one line without a newline: a line of the log backend
// (--audit-log-path). The level and the stages are those that the sink chooses, for all requests; --audit-policy-file has no effect on it.
//
// Thread-safety: each sink has a thread for itself, on which write() and flush() are called one after another. They may wait, and must not
// call the server, because each call would be a further event; such calls fail.
// Back pressure: the host queues the events of a sink and never waits for write() on a request's thread. A queue is full if it has
// `most_events` events or 64 MiB of objects. `when_full` says what happens to an event that finds it full.
// Order: the events of one request are written in the order of its stages.
// Lifetime: events are borrowed for the call. Otherwise as base.h.
// Errors: write().
//
// Made from plugin-sdk/stable/tables by generate.py; changes are overwritten.
#ifndef BACKPLANE_STABLE_AUDIT_H
#define BACKPLANE_STABLE_AUDIT_H

#include "backplane/stable/base.h"

#ifdef __cplusplus
extern "C" {
#endif

// bp_audit_sink.level: audit.k8s.io/v1 Level. Each includes the members of the one before: the request's object; the response's object.
#define BP_AUDIT_METADATA 1
#define BP_AUDIT_REQUEST 2
#define BP_AUDIT_REQUEST_RESPONSE 3
// bp_audit_sink.omit_stages, as bits: audit.k8s.io/v1 Stage.
#define BP_AUDIT_REQUEST_RECEIVED 1
#define BP_AUDIT_RESPONSE_STARTED 2
#define BP_AUDIT_RESPONSE_COMPLETE 4
#define BP_AUDIT_PANIC 8
// bp_audit_sink.when_full. DROP: the event is lost, and counted. WAIT: the request waits until the event has been written, or is lost.
#define BP_AUDIT_DROP 0
#define BP_AUDIT_WAIT 1

// An audit backend. flush may be NULL. Filled by the plugin.
typedef struct bp_audit_sink {
  size_t struct_size;
  // In log lines and metrics; no other sink of the server has it.
  bp_str name;
  void* self;
  // BP_AUDIT_METADATA, BP_AUDIT_REQUEST or BP_AUDIT_REQUEST_RESPONSE. Objects are those of all resources, also of secrets.
  uint32_t level;
  // Stages without events, as bits; 0: none.
  uint32_t omit_stages;
  // 1: objects are sent without metadata.managedFields.
  int32_t omit_managed_fields;
  // BP_AUDIT_DROP or BP_AUDIT_WAIT.
  uint32_t when_full;
  // The most events in the queue; 0: 10,000.
  uint32_t most_events;
  // The most events of one call of write(); 0: 400. A call also ends with the event that makes it larger than 1 MiB.
  uint32_t most_written;
  // Takes the next events, oldest first; there is at least one. After an error with the reason ServiceUnavailable or the code 503 the host
  // calls again with the same events, up to three times, after 0.1 s, 1 s and 5 s; further events queue meanwhile. After another error, or
  // the last of these, the events are lost: they are counted (apiserver_audit_error_total) and logged. A runner process that ends during
  // the call is such an error, so an event can be written twice.
  int32_t (*write)(void* self, const bp_str* events, size_t event_count, bp_error* error);
  // Called once, after the last write(): the server stops, or the plugin is replaced. The plugin writes what it has kept.
  int32_t (*flush)(void* self, bp_error* error);
} bp_audit_sink;

// Filled by the host.
#define BP_AUDIT_TABLE "backplane.audit"
#define BP_AUDIT_TABLE_VERSION 1
typedef struct bp_audit_table {
  size_t struct_size;
  // In provision.
  int32_t (*add)(bp_context* context, const bp_audit_sink* sink, bp_error* error);
} bp_audit_table;

#ifdef __cplusplus
}
#endif

#endif
