/* A kind whose check has a bug that `backplane plugin test` must find: with a sanitizer, or by an odd body. */
#include <backplane/stable/plugin.h>
#include <stdlib.h>
#include <string.h>

#include "bug.h"

BP_MANIFEST("plugin.json")
BP_EMBED(seeded_group, "group.json", "group.json")
BP_EMBED(seeded_types, "types.json", "types.json")

#define TEXT(literal) ((bp_str){literal, sizeof(literal) - 1})

static const bp_groups_table* groups;
static const bp_json_table* json;
static volatile long checked; /* volatile: the compiler must not remove the loop */

#ifdef BUG_OVERFLOW
/* Room for the label, but not for its end. */
static void look_at(bp_str label, long long weight) {
  (void)weight;
  char* copy = malloc(label.size);
  memcpy(copy, label.data, label.size);
  copy[label.size] = '\0';
  checked += (long)strlen(copy);
  free(copy);
}
#elif defined(BUG_RACE)
/* A counter that every request's thread changes. */
static void look_at(bp_str label, long long weight) {
  (void)label, (void)weight;
  ++checked;
}
#elif defined(BUG_UNDEFINED)
/* A sum that does not fit. */
static void look_at(bp_str label, long long weight) {
  (void)label;
  int sum = 2147483647;
  sum += (int)weight;
  checked = sum;
}
#elif defined(BUG_DECODE)
/* A long label ends the process, like an assertion or an exception that nothing catches. */
static void look_at(bp_str label, long long weight) {
  (void)weight;
  if (label.size > 200) abort();
}
#else
static void look_at(bp_str label, long long weight) { (void)label, (void)weight; }
#endif

static int32_t check(void* self, bp_str object, bp_field_errors* errors, bp_error* error) {
  (void)self, (void)errors;
  bp_json* seed = json->parse(object, error);
  if (seed == NULL) return -1;
  look_at(json->get_string(seed, TEXT("/spec/label")), json->get_int(seed, TEXT("/spec/weight"), 0));
  json->release(seed);
  return 0;
}

static int32_t provision(void* self, const bp_host* host, bp_error* error) {
  (void)self;
  json = host->table(host->context, TEXT(BP_JSON_TABLE), 1);
  groups = host->table(host->context, TEXT(BP_GROUPS_TABLE), 1);
  if (!json || !groups) return -1;
  static const bp_kind seed = {.struct_size = sizeof(seed), .kind = {"Seed", 4}, .check = check};
  static const bp_kind* const kinds[] = {&seed};
  const bp_str types[] = {BP_EMBEDDED(seeded_types)};
  const bp_group group = {sizeof(group), BP_EMBEDDED(seeded_group), types, 1, kinds, 1};
  return groups->install(host->context, &group, error);
}

const bp_plugin* backplane_stable_plugin(bp_error* error) {
  (void)error;
  static const bp_plugin plugin = {.struct_size = sizeof(plugin), .provision = provision};
  return &plugin;
}
