// The group stock.example.com in C: shelves and boxes, a rule across fields, a controller that counts the boxes of each shelf into its
// status, and an admission rule: a box gets its shelf as a label, and needs a shelf that exists.
#include <backplane/stable/plugin.h>
#include <stdio.h>
#include <string.h>

BP_MANIFEST("plugin.json")
BP_EMBED(stock_group, "group.json", "group.json")
BP_EMBED(stock_types, "types.json", "types.json")

#define TEXT(literal) ((bp_str){literal, sizeof(literal) - 1})

// The server's tables, found in provision().
static const bp_host* host;
static const bp_json_table* json;
static const bp_groups_table* groups;
static const bp_admission_table* admission;
static const bp_controllers_table* controllers;
static const bp_client_table* client;
static bp_informer *shelves, *boxes;

static const bp_resource shelf_resource = {{"stock.example.com", 17}, {"v1", 2}, {"shelves", 7}};
static const bp_resource box_resource = {{"stock.example.com", 17}, {"v1", 2}, {"boxes", 5}};

static bp_str text(const char* words) { return (bp_str){words, strlen(words)}; }

// An error with this message; -1.
static int32_t refuse(bp_error* error, const char* message) {
  snprintf(error->message, sizeof(error->message), "%s", message);
  return -1;
}

// ---- the kind Shelf

static int32_t shelf_check(void* self, bp_str object, bp_field_errors* errors, bp_error* error) {
  (void)self;
  bp_json* shelf = json->parse(object, error);
  if (shelf == NULL) return -1;
  const long long slots = json->get_int(shelf, TEXT("/spec/slots"), 0), reserved = json->get_int(shelf, TEXT("/spec/reserved"), 0);
  if (reserved > slots) {
    char value[32], detail[64];
    snprintf(value, sizeof(value), "%lld", reserved);
    snprintf(detail, sizeof(detail), "must not be more than the %lld slots", slots);
    groups->field_error(errors, BP_FIELD_INVALID, TEXT("spec.reserved"), text(value), text(detail));
  }
  json->release(shelf);
  return 0;
}

// ---- the admission rule

// "namespace/shelf" of a box; cut if it does not fit, as no name that exists is as long.
static void shelf_key(const bp_json* box, char* key, size_t size) {
  const bp_str ns = json->get_string(box, TEXT("/metadata/namespace")), shelf = json->get_string(box, TEXT("/spec/shelf"));
  snprintf(key, size, "%.*s/%.*s", (int)ns.size, ns.data ? ns.data : "", (int)shelf.size, shelf.data ? shelf.data : "");
}

static int32_t label_box(void* self, const bp_write* write, bp_output* patch, bp_error* error) {
  (void)self;
  bp_json* box = json->parse(write->object, error);
  if (box == NULL) return -1;
  const bp_str shelf = json->get_string(box, TEXT("/spec/shelf"));
  const int32_t set = json->set_string(box, TEXT("/metadata/labels/shelf"), shelf, error);
  bp_text* changed = json->get(box, TEXT(""));
  if (set == 0) host->write(patch, host->view(changed));
  host->release(changed);
  json->release(box);
  return set;
}

static int32_t check_box(void* self, const bp_write* write, bp_error* error) {
  (void)self;
  bp_json* box = json->parse(write->object, error);
  if (box == NULL) return -1;
  char key[512], message[600];
  shelf_key(box, key, sizeof(key));
  json->release(box);
  bp_text* shelf = controllers->get(shelves, text(key));
  host->release(shelf);
  if (shelf != NULL) return 0;
  snprintf(message, sizeof(message), "there is no shelf %s", key);
  return refuse(error, message);
}

// ---- the controller: its keys are those of shelves

static void box_event(void* self, uint32_t type, bp_str object, bp_str old, bp_queue* queue) {
  (void)self, (void)type;
  const bp_str both[] = {object, old};
  for (int i = 0; i < 2; ++i) {
    bp_error error = {0};
    bp_json* box = both[i].size != 0 ? json->parse(both[i], &error) : NULL;
    if (box == NULL) continue;
    char key[512];
    shelf_key(box, key, sizeof(key));
    controllers->enqueue(queue, text(key));
    json->release(box);
  }
}

struct count {
  const char* key;
  long boxes;
};
static int32_t count_box(void* self, bp_str key, bp_str object) {
  (void)key;
  struct count* count = self;
  bp_error error = {0};
  bp_json* box = json->parse(object, &error);
  char shelf[512] = "";
  if (box != NULL) shelf_key(box, shelf, sizeof(shelf));
  if (strcmp(shelf, count->key) == 0) ++count->boxes;
  json->release(box);
  return 0;
}

static int32_t count_boxes(void* self, bp_str key, bp_queue* queue, bp_error* error) {
  (void)self, (void)queue;
  char shelf[512], patch[64];
  snprintf(shelf, sizeof(shelf), "%.*s", (int)key.size, key.data);
  bp_text* known = controllers->get(shelves, key);
  host->release(known);
  if (known == NULL) return 0;  // it has been deleted, or a box names none
  struct count count = {shelf, 0};
  controllers->each(boxes, &count, count_box);
  snprintf(patch, sizeof(patch), "{\"status\":{\"boxes\":%ld}}", count.boxes);
  char* name = strchr(shelf, '/');
  *name++ = '\0';
  bp_text* patched =
      client->patch(host->context, &shelf_resource, text(shelf), text(name), TEXT("status"), BP_PATCH_MERGE, text(patch), error);
  if (patched == NULL) return -1;
  host->release(patched);
  return 0;
}

// ---- the plugin

static int32_t install_group(bp_error* error) {
  static const bp_kind shelf = {.struct_size = sizeof(shelf), .kind = {"Shelf", 5}, .check = shelf_check};
  static const bp_kind* const kinds[] = {&shelf};
  const bp_str schemas[] = {BP_EMBEDDED(stock_types)};
  const bp_group group = {sizeof(group), BP_EMBEDDED(stock_group), schemas, 1, kinds, 1};
  return groups->install(host->context, &group, error);
}

static int32_t add_rule(bp_error* error) {
  static const bp_match boxes_only[] = {{{"stock.example.com", 17}, {"*", 1}, {"boxes", 5}, {"", 0}}};
  const bp_admission rule = {.struct_size = sizeof(rule),
                             .name = TEXT("StockBoxes"),
                             .operations = BP_CREATE | BP_UPDATE,
                             .matches = boxes_only,
                             .match_count = 1,
                             .admit = label_box,
                             .validate = check_box};
  return admission->add(host->context, &rule, error);
}

static int32_t add_controller(bp_error* error) {
  shelves = controllers->informer(host->context, &shelf_resource, TEXT(""), error);
  boxes = shelves != NULL ? controllers->informer(host->context, &box_resource, TEXT(""), error) : NULL;
  if (boxes == NULL) return -1;
  const bp_watch of_shelves = {.struct_size = sizeof(of_shelves), .informer = shelves};
  const bp_watch of_boxes = {.struct_size = sizeof(of_boxes), .informer = boxes, .event = box_event};
  const bp_watch* const watches[] = {&of_shelves, &of_boxes};
  const bp_controller controller = {
      .struct_size = sizeof(controller), .name = TEXT("stock"), .watches = watches, .watch_count = 2, .reconcile = count_boxes};
  return controllers->add(host->context, &controller, error);
}

static int32_t provision(void* self, const bp_host* its_host, bp_error* error) {
  (void)self;
  host = its_host;
  json = host->table(host->context, TEXT(BP_JSON_TABLE), 1);
  groups = host->table(host->context, TEXT(BP_GROUPS_TABLE), 1);
  admission = host->table(host->context, TEXT(BP_ADMISSION_TABLE), 1);
  controllers = host->table(host->context, TEXT(BP_CONTROLLERS_TABLE), 1);
  client = host->table(host->context, TEXT(BP_CLIENT_TABLE), 1);
  if (!json || !groups || !admission || !controllers || !client) return refuse(error, "the server lacks a table");
  if (install_group(error) != 0 || add_rule(error) != 0) return -1;
  return add_controller(error);
}

const bp_plugin* backplane_stable_plugin(bp_error* error) {
  (void)error;
  static const bp_plugin plugin = {.struct_size = sizeof(plugin), .provision = provision};
  return &plugin;
}
