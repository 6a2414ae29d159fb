// Serves demo.example.com/v1: greetings are created, listed, watched and deleted like every other resource.
#include <backplane/plugin.hpp>

#include "greetings_json.hpp"

using namespace backplane;

// A cell of `kubectl get greetings`.
void say(const Object& object, std::int64_t, Array& cells) {
  const std::string words(get_string_path(object, "spec.greeting")), whom(get_string_path(object, "spec.name"));
  cells.emplace_back(words + ", " + whom + "!");
}

// What a greeting is, as data, and what it does beyond its schema.
class GreetingStrategy final : public Strategy {
 public:
  explicit GreetingStrategy(const Schema* schema)
      : Strategy({.columns = {{.name = "Name", .format = "name", .description = "Its name.", .path = ".metadata.name"},
                              {.name = "Says", .description = "The greeting.", .cells = say}}}),
        schema_(schema) {}

  void validate(RequestContext&, const Object& object, FieldErrors& errors) const override {
    const Value* spec = find(object, "spec");
    if (!spec) return errors.required("spec");
    schema_->property("spec")->validate(*spec, "spec", errors);
    if (get_string_path(object, "spec.name") == "nobody") errors.forbidden("spec.name", "somebody must be there to be greeted");
  }
  void validate_update(RequestContext& context, const Object& now, const Object&, FieldErrors& errors) const override {
    validate(context, now, errors);
  }

 private:
  const Schema* schema_;
};

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
    config.strategy = std::make_shared<GreetingStrategy>(config.schema);
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
