// Serves run.example.com/v1: a kind that holds a pod template, with the defaults and rules that every pod template has.
#include <backplane/plugin.hpp>
#include <backplane/resource.hpp>
#include <backplane/workload/pod_defaults.hpp>
#include <backplane/workload/pod_validation.hpp>

#include "runners_group_json.hpp"
#include "runners_json.hpp"

using namespace backplane;

class RunnerStrategy final : public kit::KindStrategy {
 public:
  RunnerStrategy(KindFacts facts, workload::PodValidationOptions options) : KindStrategy(std::move(facts)), options_(options) {}

  void apply_defaults(Object& object) const override { workload::apply_pod_template_defaults(ensure_object(object, "template")); }

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    workload::validate_pod_template(object_or_empty(object, "template"), "template", options_, errors);
  }

 private:
  workload::PodValidationOptions options_;
};

class Runner final : public Plugin {
  Status provision(Host& host) override {
    const std::string_view document = runners_json();
    auto schemas = SchemaSet::compile({&document, 1}, {core_schemas(), meta_schemas()});
    if (!schemas.ok()) return std::move(schemas).status();
    kit::GroupCode code;
    code.kinds["Runner"] = {.make = kit::made<RunnerStrategy>(workload::pod_validation_options(host))};
    return kit::install_group(host, "runner", kit::read_group(runners_group_json(), code), std::vector{*schemas});
  }
};
BACKPLANE_PLUGIN(Runner)
