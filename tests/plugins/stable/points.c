// A plugin for tests: uses the functions of each table that the example does not use. POINTS_FAULT names a call that fails.
#include <backplane/stable/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

BP_MANIFEST("plugin.json")
BP_EMBED(points_group, "group.json", "group.json")
BP_EMBED(points_types, "types.json", "types.json")
BP_EMBED(points_types_v2, "types_v2.json", "types_v2.json")

#define TEXT(literal) ((bp_str){literal, sizeof(literal) - 1})
#ifndef POINTS_FAULT
#define POINTS_FAULT ""
#endif

static const bp_host* host;
static const bp_json_table* json;
static const bp_groups_table* groups;
static const bp_admission_table* admission;
static const bp_http_table* http;
static const bp_client_table* client;
static const bp_resource maps = {{"", 0}, {"v1", 2}, {"configmaps", 10}};

static int wrong(const char* call) { return strcmp(POINTS_FAULT, call) == 0; }
static int32_t refuse(bp_error* error, int32_t code, const char* reason, const char* message) {
  error->code = code;
  snprintf(error->reason, sizeof(error->reason), "%s", reason);
  snprintf(error->message, sizeof(error->message), "%s", message);
  return -1;
}
__attribute__((noreturn)) static void crash(void) { abort(); }

// ---- the kind: y defaults to x; a fixed point is immutable; the status's counter does not decrease

static int32_t set_defaults(void* self, bp_str object, bp_output* changed, bp_error* error) {
  (void)self;
  bp_json* point = json->parse(object, error);
  if (point == NULL) return -1;
  if (json->has(point, TEXT("/spec/x")) && !json->has(point, TEXT("/spec/y"))) {
    json->set_int(point, TEXT("/spec/y"), json->get_int(point, TEXT("/spec/x"), 0), error);
    bp_text* whole = json->get(point, TEXT(""));
    host->write(changed, host->view(whole));
    host->release(whole);
  }
  json->release(point);
  return 0;
}

static int32_t check_change(void* self, bp_str object, bp_str old, bp_field_errors* errors, bp_error* error) {
  (void)self;
  if (wrong("check_change")) return refuse(error, 0, "", "it fails on purpose");
  bp_json *now = json->parse(object, error), *before = json->parse(old, error);
  if (json->get_bool(before, TEXT("/spec/fixed"), 0) &&
      json->get_int(now, TEXT("/spec/x"), 0) != json->get_int(before, TEXT("/spec/x"), 0)) {
    groups->field_error(errors, BP_FIELD_FORBIDDEN, TEXT("spec.x"), TEXT(""), TEXT("the point is fixed"));
  }
  json->release(now);
  json->release(before);
  return 0;
}

static int32_t check_status(void* self, bp_str object, bp_str old, bp_field_errors* errors, bp_error* error) {
  (void)self;
  bp_json *now = json->parse(object, error), *before = json->parse(old, error);
  if (json->get_int(now, TEXT("/status/seen"), 0) < json->get_int(before, TEXT("/status/seen"), 0)) {
    groups->field_error(errors, BP_FIELD_INVALID, TEXT("status.seen"), TEXT("0"), TEXT("must not become less"));
  }
  json->release(now);
  json->release(before);
  return 0;
}

// Version v2 has other names.
static void rename_int(bp_json* point, bp_str from, bp_str to, bp_error* error) {
  if (!json->has(point, from)) return;
  json->set_int(point, to, json->get_int(point, from, 0), error);
  json->remove(point, from);
}
static int32_t convert(void* self, bp_str from, bp_str to, bp_str object, bp_output* converted, bp_error* error) {
  (void)self, (void)from;
  bp_json* point = json->parse(object, error);
  if (point == NULL) return -1;
  const int newer = memcmp(to.data, "v2", 2) == 0;
  rename_int(point, newer ? TEXT("/spec/x") : TEXT("/spec/column"), newer ? TEXT("/spec/column") : TEXT("/spec/x"), error);
  rename_int(point, newer ? TEXT("/spec/y") : TEXT("/spec/row"), newer ? TEXT("/spec/row") : TEXT("/spec/y"), error);
  bp_text* whole = json->get(point, TEXT(""));
  host->write(converted, host->view(whole));
  host->release(whole);
  json->release(point);
  return 0;
}

// ---- admission of config maps with the label "points"

static int32_t admit_map(void* self, const bp_write* write, bp_output* patch, bp_error* error) {
  (void)self;
  bp_json* map = json->parse(write->object, error);
  if (map == NULL) return -1;
  const bp_str label = json->get_string(map, TEXT("/metadata/labels/points"));
  if (label.data != NULL) {
    admission->warn(write->request, TEXT("the map has points"));
    admission->annotate(write->request, TEXT("points.example.com/user"), write->user->name, error);
    host->write(patch, TEXT("[{\"op\":\"add\",\"path\":\"/metadata/labels/patched\",\"value\":\"yes\"}]"));
  }
  json->release(map);
  return 0;
}

// Refuses with the server's response for the object that the map's data names; `self`: the name of the calling step.
static int32_t validate_map(void* self, const bp_write* write, bp_error* error) {
  bp_json* map = json->parse(write->object, error);
  if (map == NULL) return -1;
  const bp_str wanted = json->get_string(map, self != NULL ? TEXT("/data/here") : TEXT("/data/waiting"));
  bp_text* found = wanted.data != NULL ? client->get(host->context, &maps, write->ns, wanted, error) : NULL;
  const int32_t result = wanted.data != NULL && found == NULL ? -1 : 0;
  host->release(found);
  json->release(map);
  return result;
}

// ---- paths: /points/verbs makes all calls of the client; /points/flag/NAME

static bp_text* one_of(bp_text* before, bp_text* answer) {
  host->release(before);
  return answer;
}

static int32_t call_verbs(bp_exchange* exchange, bp_error* error) {
  const bp_str ns = TEXT("default"), name = TEXT("called");
  bp_text* text_of = client->create(host->context, &maps, ns,
                                    TEXT("{\"metadata\":{\"name\":\"called\",\"labels\":{\"a\":\"b\"}},\"data\":{\"x\":\"1\"}}"), error);
  if (text_of == NULL) return -1;
  bp_json* map = json->parse(host->view(text_of), error);
  json->set_string(map, TEXT("/data/x"), TEXT("2"), error);
  bp_text* changed = json->get(map, TEXT(""));
  text_of = one_of(text_of, client->update(host->context, &maps, ns, TEXT(""), host->view(changed), error));
  host->release(changed);
  json->release(map);
  if (text_of == NULL) return -1;
  text_of =
      one_of(text_of, client->patch(host->context, &maps, ns, name, TEXT(""), BP_PATCH_MERGE, TEXT("{\"data\":{\"y\":\"3\"}}"), error));
  if (text_of == NULL) return -1;
  text_of = one_of(text_of, client->list(host->context, &maps, ns, TEXT("a in (b)"), TEXT("metadata.name=called"), error));
  if (text_of == NULL) return -1;
  http->add_header(exchange, TEXT("X-Points"), TEXT("listed"));
  http->respond(exchange, 200, TEXT("application/json"), host->view(text_of));
  text_of = one_of(text_of, client->remove(host->context, &maps, ns, name, TEXT("{\"propagationPolicy\":\"Background\"}"), error));
  host->release(text_of);
  return text_of == NULL ? -1 : 0;
}

static int32_t handle(void* self, bp_exchange* exchange, bp_error* error) {
  (void)self;
  const bp_str target = http->target(exchange);
  if (target.size == 13 && memcmp(target.data, "/points/verbs", 13) == 0) return call_verbs(exchange, error);
  if (target.size > 13 && memcmp(target.data, "/points/flag/", 13) == 0) {
    bp_text* value = host->flag(host->context, (bp_str){target.data + 13, target.size - 13});
    if (value == NULL) return refuse(error, 404, "NotFound", "there is no such flag");
    http->respond(exchange, 200, TEXT("text/plain"), host->view(value));
    host->release(value);
    return 0;
  }
  if (target.size == 13 && memcmp(target.data, "/points/crash", 13) == 0) crash();
  if (target.size == 12 && memcmp(target.data, "/points/hang", 12) == 0) {
    for (;;) pause();
  }
  return 0;  // without a response
}

// ---- authentication and authorization of a user; hooks and a check

static int32_t authenticate(void* self, bp_str token, const bp_str* audiences, size_t audience_count, bp_output* user, bp_error* error) {
  (void)self, (void)audiences, (void)audience_count;
  if (token.size != 12 || memcmp(token.data, "points-", 7) != 0) return 0;
  if (memcmp(token.data + 7, "valid", 5) != 0) return refuse(error, 0, "", "the token is not valid");
  host->write(user, TEXT("{\"username\":\"pointer\",\"uid\":\"7\",\"groups\":[\"points\"],\"extra\":{\"example.com/at\":[\"here\"]}}"));
  return 0;
}

static int32_t decide(void* self, const bp_access* access, bp_output* reason, bp_error* error) {
  (void)self, (void)error;
  if (access->user->name.size != 7 || memcmp(access->user->name.data, "pointer", 7) != 0) return BP_NO_OPINION;
  if (access->is_resource) return BP_ALLOW;
  host->write(reason, TEXT("pointers see objects only"));
  return BP_DENY;
}

static int started;
static int32_t start(void* self, bp_error* error) {
  (void)self, (void)error;
  started = 1;
  return 0;
}
static int32_t end(void* self, bp_error* error) {
  (void)self, (void)error;
  host->log(host->context, BP_LOG_INFO, TEXT("the points are put away"));
  return 0;
}
static int32_t check_health(void* self, bp_error* error) {
  (void)self;
  return started ? 0 : refuse(error, 0, "", "it has not started");
}

static int32_t register_others(bp_error* error) {
  const bp_security_table* security = host->table(host->context, TEXT(BP_SECURITY_TABLE), BP_SECURITY_TABLE_VERSION);
  const bp_lifecycle_table* lifecycle = host->table(host->context, TEXT(BP_LIFECYCLE_TABLE), BP_LIFECYCLE_TABLE_VERSION);
  const bp_authenticator tokens = {
      .struct_size = sizeof(tokens), .name = TEXT("points"), .flags = BP_BLOCKING, .authenticate = authenticate};
  const bp_authorizer authorizer = {.struct_size = sizeof(authorizer), .name = TEXT("Points"), .decide = decide};
  const bp_hook at_start = {.struct_size = sizeof(at_start), .name = TEXT("points/start"), .run = start};
  const bp_hook at_end = {.struct_size = sizeof(at_end), .name = TEXT("points/end"), .run = end};
  const bp_check check = {.struct_size = sizeof(check), .name = TEXT("points"), .endpoints = BP_READYZ, .run = check_health};
  if (security->add_authenticator(host->context, &tokens, error) != 0) return -1;
  if (security->add_authorizer(host->context, &authorizer, error) != 0) return -1;
  if (lifecycle->add_post_start(host->context, &at_start, error) != 0) return -1;
  if (lifecycle->add_pre_shutdown(host->context, &at_end, error) != 0) return -1;
  return lifecycle->add_check(host->context, &check, error);
}

// ---- the plugin

static int32_t register_all(bp_error* error) {
  static const bp_kind point = {.struct_size = sizeof(point),
                                .kind = {"Point", 5},
                                .set_defaults = set_defaults,
                                .check_change = check_change,
                                .check_status = check_status,
                                .convert = convert};
  static const bp_kind* const kinds[] = {&point};
  static const bp_match of_maps[] = {{{"", 0}, {"v1", 2}, {"configmaps", 10}, {"", 0}}};
  static const bp_path path = {.struct_size = sizeof(path), .path = {"/points", 7}, .prefix = 1, .handle = handle};
  const bp_str schemas[] = {BP_EMBEDDED(points_types), BP_EMBEDDED(points_types_v2)};
  const bp_group group = {sizeof(group), BP_EMBEDDED(points_group), schemas, 2, kinds, 1};
  bp_admission rule = {.struct_size = sizeof(rule),
                       .name = TEXT("PointsHere"),
                       .self = (void*)"here",
                       .operations = BP_CREATE,
                       .matches = of_maps,
                       .match_count = 1,
                       .admit = admit_map,
                       .validate = validate_map};
  bp_admission waiting = {.struct_size = sizeof(rule),
                          .name = TEXT("PointsWaiting"),
                          .flags = BP_BLOCKING,
                          .operations = BP_CREATE,
                          .matches = of_maps,
                          .match_count = 1,
                          .validate = validate_map};
  if (groups->install(host->context, &group, error) != 0) return -1;
  if (admission->add(host->context, &rule, error) != 0 || admission->add(host->context, &waiting, error) != 0) return -1;
  return http->add(host->context, &path, error) != 0 ? -1 : register_others(error);
}

static int32_t provision(void* self, const bp_host* its_host, bp_error* error) {
  (void)self;
  host = its_host;
  if (wrong("provision")) return refuse(error, 0, "", "it fails on purpose");
  if (wrong("crash")) crash();
  json = host->table(host->context, TEXT(BP_JSON_TABLE), BP_JSON_TABLE_VERSION);
  groups = host->table(host->context, TEXT(BP_GROUPS_TABLE), BP_GROUPS_TABLE_VERSION);
  admission = host->table(host->context, TEXT(BP_ADMISSION_TABLE), BP_ADMISSION_TABLE_VERSION);
  http = host->table(host->context, TEXT(BP_HTTP_TABLE), BP_HTTP_TABLE_VERSION);
  client = host->table(host->context, TEXT(BP_CLIENT_TABLE), BP_CLIENT_TABLE_VERSION);
  // No host has these tables.
  if (host->table(host->context, TEXT("backplane.nothing"), 1) != NULL) return refuse(error, 0, "", "a table that no host has");
  if (host->table(host->context, TEXT(BP_JSON_TABLE), 99) != NULL) return refuse(error, 0, "", "a version that no host has");
  return register_all(error);
}

const bp_plugin* backplane_stable_plugin(bp_error* error) {
  static bp_plugin plugin = {.struct_size = sizeof(plugin), .provision = provision};
  if (wrong("entry")) return refuse(error, 0, "", "it fails on purpose"), NULL;
  if (wrong("entry_crash")) crash();
  // Like a plugin that was compiled when the table ended before provision().
  if (wrong("short_table")) plugin.struct_size = offsetof(bp_plugin, provision);
  return &plugin;
}
