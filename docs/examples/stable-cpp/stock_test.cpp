// Tests without a test framework; a test server loads the plugin.
#include <backplane/testing/host.hpp>

#include <cstdio>

using namespace backplane::testing;

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  ++failures;
}

int main() {
  Host host({BACKPLANE_PLUGIN_FILE});
  const Resource shelves = host.resource("stock.example.com/v1", "shelves"), boxes = host.resource("stock.example.com/v1", "boxes");
  const auto shelf = [](const std::string& spec) {
    return R"({"apiVersion":"stock.example.com/v1","kind":"Shelf","metadata":{"name":"north"},"spec":)" + spec + "}";
  };
  const std::string box = R"({"apiVersion":"stock.example.com/v1","kind":"Box","metadata":{"name":"first"},"spec":{"shelf":"north"}})";
  expect(shelves.create(shelf(R"({"slots":3,"reserved":5})")).text("/details/causes/0/field") == "spec.reserved", "a rule across fields");
  expect(boxes.create(box).code() == 403, "a box needs a shelf");
  expect(shelves.create(shelf(R"({"slots":3})")).code() == 201, "a shelf is created");
  // The controller writes the first count when its informer, which the admission rule uses as well, knows the shelf.
  shelves.wait_until("north", [](const Answer& north) { return north.integer("/status/boxes") == 0; });
  const Answer made = boxes.create(box);
  expect(made.text("/metadata/labels/shelf") == "north", "the rule labels the box");
  shelves.wait_until("north", [](const Answer& north) { return north.integer("/status/boxes") == 1; });
  expect(host.send("GET", "/stock").body().starts_with("1 boxes, open"), "the path counts");
  expect(host.stop() == 0, "the server stops");
  return failures == 0 ? 0 : 1;
}
