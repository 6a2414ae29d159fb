// The flow schemas and priority levels that every server has.
#include <algorithm>
#include <array>
#include <stdexcept>

#include "backplane/core/json_access.hpp"
#include "backplane/types/json_reading.hpp"
#include "flowcontrol_bootstrap_json.hpp"
#include "flowcontrol_v1_json.hpp"
#include "kinds.hpp"

namespace backplane::flowcontrol {
namespace {

using namespace kit;

constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kResources = {
    {{kPriorityLevels, "PriorityLevelConfiguration"}, {kFlowSchemas, "FlowSchema"}}};

// Returns `spec` normalized and with defaults, as the store returns it.
Object stored_spec(std::string_view kind, const Object& spec) {
  const Schema* schema = flowcontrol_schemas()->find(GroupVersionKind{std::string(kGroup), "v1", std::string(kind)});
  Value whole(Object{{"spec", spec}});
  if (!schema->normalize(whole, nullptr).ok()) throw std::logic_error("a bootstrap object of flowcontrol cannot be read");
  schema->apply_defaults(whole);
  return whole.get_object().at("spec").get_object();
}

void add(const Object& document, std::string_view set, std::vector<Bootstrap>& out) {
  for (const auto& [resource, kind] : kResources) {
    each(object_or_empty(document, set), resource, [&, resource = resource, kind = kind](const Object& row, std::size_t) {
      out.push_back({resource, std::string(get_string(row, "name")), set == "mandatory", stored_spec(kind, object_or_empty(row, "spec"))});
    });
  }
}

}  // namespace

std::shared_ptr<const SchemaSet> flowcontrol_schemas() {
  static const auto schemas = [] {
    const std::array<std::string_view, 1> documents = {flowcontrol_v1_json()};
    auto made = SchemaSet::embedded(documents, {meta_schemas()});
    if (!made.ok()) throw std::logic_error(made.status().message());
    return std::move(*made);
  }();
  return schemas;
}

const std::vector<Bootstrap>& bootstrap_objects() {
  static const std::vector<Bootstrap> objects = [] {
    std::vector<Bootstrap> out;
    const auto document = read_json(flowcontrol_bootstrap_json());
    if (!document || !document->is_object()) throw std::logic_error("the bootstrap objects of flowcontrol are not a JSON object");
    add(document->get_object(), "suggested", out);
    add(document->get_object(), "mandatory", out);
    return out;
  }();
  return objects;
}

const Bootstrap* find_bootstrap(std::string_view resource, std::string_view name) {
  const auto& all = bootstrap_objects();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Bootstrap& each) { return each.resource == resource && each.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace backplane::flowcontrol
