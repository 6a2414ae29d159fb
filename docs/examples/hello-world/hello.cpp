// Serves demo.example.com/v1: greetings are created, listed, watched and deleted like every other resource.
#include <backplane/plugin.hpp>

#include "greetings_json.hpp"

using namespace backplane;

// A cell of `kubectl get greetings`.
void say(const Object& object, std::int64_t, Array& cells) {
  const std::string words(get_string_path(object, "spec.greeting")), whom(get_string_path(object, "spec.name"));
  cells.emplace_back(words + ", " + whom + "!");
}

class HelloWorld final : public Plugin {
  Status provision(Host& host) override {
    const std::string_view document = greetings_json();
    auto schemas = SchemaSet::compile({&document, 1}, {meta_schemas()});
    if (!schemas.ok()) return std::move(schemas).status();
    ResourceConfig config;
    config.kind = {"demo.example.com", "v1", "Greeting"};
    config.resource = "greetings";
    config.schemas = *schemas;
    config.schema = (*schemas)->find(config.kind);
    KindFacts facts;
    facts.columns = {{.name = "Name", .format = "name", .description = "Its name.", .path = ".metadata.name"},
                     {.name = "Says", .description = "The greeting.", .cells = say}};
    config.strategy = std::make_shared<Strategy>(std::move(facts));
    config.storage_prefix = "demo.example.com/greetings";
    auto storage = host.make_storage(config);
    if (!storage.ok()) return std::move(storage).status();
    APIGroupInfo group;
    group.group = "demo.example.com";
    group.prioritized_versions = {"v1"};
    group.storages["v1"]["greetings"] = *storage;
    group.schemas["v1"] = *schemas;
    return host.install_api_group(std::move(group));
  }
};
BACKPLANE_PLUGIN(HelloWorld)
