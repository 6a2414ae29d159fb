// Finds the parts of an object that its type replaces as a whole (upstream: findAtomics of pkg/admission/plugin/policy/mutating/patch).
#include "engine/object_fields.hpp"
#include "fields/form.hpp"

namespace backplane::fields {
namespace {

class AtomicFinder {
 public:
  std::vector<std::string> found;

  void look(const TypeRef& type, const Value& value, const std::string& path) {
    const Form form = form_of(type);
    if (form.map != nullptr && value.is_object()) {
      if (form.map_atomic) found.push_back(path);
      members(*form.map, value.get_object(), path);
    }
    if (form.list != nullptr && value.is_array()) {
      if (form.list_atomic) found.push_back(path);
      const Array& items = value.get_array();
      for (std::size_t i = 0; i < items.size(); ++i) look(form.list->items, items[i], path + "[" + std::to_string(i) + "]");
    }
  }

  // Only named fields of the type: as upstream, entries of maps are skipped.
  void members(const MapForm& form, const Object& object, const std::string& path) {
    for (const auto& member : object) {
      const MapForm::Field* field = form.find(member.key());
      if (field != nullptr) look(field->type, member.value(), path + "." + std::string(member.key()));
    }
  }
};

}  // namespace
}  // namespace backplane::fields

namespace backplane BACKPLANE_API {

std::vector<std::string> atomic_fields(const Schema* type, const Object& object) {
  fields::AtomicFinder finder;
  const fields::Form form = fields::form_of(fields::root_type(type));
  if (form.map != nullptr && form.map_atomic) finder.found.emplace_back();
  if (form.map != nullptr) finder.members(*form.map, object, {});
  return std::move(finder.found);
}

}  // namespace BACKPLANE_API
