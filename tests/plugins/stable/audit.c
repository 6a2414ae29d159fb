// A plugin for tests: audit sinks that append their events to files in the folder of AUDIT_FOLDER, a line for each event. AUDIT_FAULT
// selects a fault.
#include <backplane/stable/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

BP_MANIFEST("audit.json")

#define TEXT(literal) ((bp_str){literal, sizeof(literal) - 1})
#ifndef AUDIT_FAULT
#define AUDIT_FAULT ""
#endif

static const bp_host* host;
static const bp_client_table* client;

static int wrong(const char* call) { return strcmp(AUDIT_FAULT, call) == 0; }
static int32_t refuse(bp_error* error, const char* reason, const char* message) {
  snprintf(error->reason, sizeof(error->reason), "%s", reason);
  snprintf(error->message, sizeof(error->message), "%s", message);
  return -1;
}

static FILE* opened(const char* name) {
  char path[512];
  snprintf(path, sizeof(path), "%s/%s", AUDIT_FOLDER, name);
  return fopen(path, "ab");
}

// 1 if the file exists; it is removed.
static int taken(const char* name) {
  char path[512];
  snprintf(path, sizeof(path), "%s/%s", AUDIT_FOLDER, name);
  return unlink(path) == 0;
}

// A sink must not call the server.
static int may_call(void) {
  const bp_resource maps = {TEXT(""), TEXT("v1"), TEXT("configmaps")};
  bp_error error = {0};
  bp_text* found = client->get(host->context, &maps, TEXT("default"), TEXT("a"), &error);
  host->release(found);
  return strstr(error.message, "must not wait") == NULL;
}

static int32_t write_events(void* self, const bp_str* events, size_t event_count, bp_error* error) {
  if (taken("crash")) abort();
  if (taken("unavailable")) return refuse(error, "ServiceUnavailable", "the collector is away");
  if (taken("refuse")) return refuse(error, "", "the disk is full");
  if (may_call()) return refuse(error, "", "a sink may call the server");
  while (wrong("slow") && access(AUDIT_FOLDER "/go", F_OK) != 0) thrd_sleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
  FILE* file = opened(self);
  if (file == NULL) return refuse(error, "", "the file cannot be opened");
  for (size_t i = 0; i < event_count; ++i) {
    fwrite(events[i].data, 1, events[i].size, file);
    fputc('\n', file);
  }
  fclose(file);
  return 0;
}

static int32_t flush(void* self, bp_error* error) {
  (void)self, (void)error;
  FILE* file = opened("flushed");
  if (file == NULL) return -1;
  fputs("flushed\n", file);
  fclose(file);
  return 0;
}

static int32_t provision(void* self, const bp_host* its_host, bp_error* error) {
  (void)self;
  host = its_host;
  client = host->table(host->context, TEXT(BP_CLIENT_TABLE), BP_CLIENT_TABLE_VERSION);
  const bp_audit_table* audit = host->table(host->context, TEXT(BP_AUDIT_TABLE), BP_AUDIT_TABLE_VERSION);
  bp_audit_sink whole = {.struct_size = sizeof(whole),
                         .name = TEXT("whole"),
                         .self = (void*)"whole",
                         .level = wrong("level") ? 4 : BP_AUDIT_REQUEST_RESPONSE,
                         .omit_managed_fields = 1,
                         .most_events = wrong("slow") ? 3 : 0,
                         .write = write_events,
                         .flush = flush};
  const bp_audit_sink ends = {.struct_size = sizeof(ends),
                              .name = TEXT("ends"),
                              .self = (void*)"ends",
                              .level = BP_AUDIT_METADATA,
                              .omit_stages = BP_AUDIT_REQUEST_RECEIVED | BP_AUDIT_RESPONSE_STARTED,
                              .when_full = BP_AUDIT_WAIT,
                              .write = write_events};
  if (audit->add(host->context, &whole, error) != 0) return -1;
  if (wrong("slow")) return 0;
  return audit->add(host->context, wrong("twice") ? &whole : &ends, error);
}

const bp_plugin* backplane_stable_plugin(bp_error* error) {
  (void)error;
  static const bp_plugin plugin = {.struct_size = sizeof(plugin), .provision = provision};
  return &plugin;
}
