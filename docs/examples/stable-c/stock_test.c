/* The plugin in a server of its own, in C. */
#include <backplane/testing/host.h>
#include <stdio.h>
#include <string.h>

#define SHELVES "/apis/stock.example.com/v1/namespaces/default/shelves"
#define BOXES "/apis/stock.example.com/v1/namespaces/default/boxes"

static const char shelf[] =
    "{\"apiVersion\":\"stock.example.com/v1\",\"kind\":\"Shelf\",\"metadata\":{\"name\":\"north\"},\"spec\":{\"slots\":3}}";
static const char box[] =
    "{\"apiVersion\":\"stock.example.com/v1\",\"kind\":\"Box\",\"metadata\":{\"name\":\"first\"},\"spec\":{\"shelf\":\"north\"}}";

static int has_boxes(void* wanted, const bpt_answer* north) {
  const char* boxes = bpt_answer_value(north, "/status/boxes");
  return boxes != NULL && strcmp(boxes, wanted) == 0;
}

static int created(bpt_host* host, const char* collection, const char* object) {
  bpt_answer* answer = bpt_send(host, "POST", collection, "application/json", object, strlen(object));
  const int code = bpt_answer_code(answer);
  if (code != 201) fprintf(stderr, "%d: %s\n", code, bpt_answer_body(answer, NULL));
  bpt_answer_release(answer);
  return code == 201;
}

/* Whether the controller counts this many boxes within a minute. */
static int counted(bpt_host* host, const char* boxes) {
  bpt_answer* north = bpt_wait(host, SHELVES, "north", has_boxes, (void*)boxes, 60000);
  const int met = north != NULL;
  bpt_answer_release(north);
  return met;
}

int main(void) {
  static const char* const plugins[] = {BACKPLANE_PLUGIN_FILE, NULL};
  char error[4096];
  bpt_host* host = bpt_host_start(plugins, NULL, 0, error, sizeof(error));
  if (host == NULL) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  const int holds = created(host, SHELVES, shelf) && counted(host, "0") && created(host, BOXES, box) && counted(host, "1");
  if (!holds) fprintf(stderr, "the controller has not counted the box\n");
  return bpt_host_stop(host) == 0 && holds ? 0 : 1;
}
