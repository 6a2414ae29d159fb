// Checks of a group document against the types of its kinds.
#include "backplane/types/json_path.hpp"
#include "documents/checks.hpp"
#include "schema/constraints.hpp"
#include "schema/type.hpp"

namespace backplane::documents {
namespace {

using schema::Form;
using schema::Type;

// The first member of the path that the type does not have; empty: the path may exist.
std::string missing_member(const Type* type, const std::vector<std::string>& members) {
  for (const std::string& member : members) {
    if (type == nullptr || type->form() != Form::kStruct) return {};
    const schema::Body& body = type->body();
    const int index = body.find(member, 0);
    const schema::Constraints* rules = body.constraints.get();
    const bool open = body.items != nullptr || (rules != nullptr && (rules->preserve_unknown || rules->additional_allowed));
    if (index < 0) return open ? std::string() : member;
    type = body.properties[static_cast<std::size_t>(index)].type;
  }
  return {};
}

class KindCheck {
 public:
  KindCheck(const Type& type, const Report& report, Pointer at) : type_(type), report_(report), at_(std::move(at)) {}

  void columns(const Object& kind) {
    const Array* columns = get_array(kind, "columns");
    for (std::size_t i = 0; columns != nullptr && i < columns->size(); ++i) {
      if (!(*columns)[i].is_object()) continue;
      const Value* path = find((*columns)[i].get_object(), "path");
      if (path == nullptr) continue;
      const Pointer at{"columns", std::to_string(i), "path"};
      if (path->is_string()) this->path(path->get_string(), at);
      if (!path->is_array()) continue;
      for (const Value& each : path->get_array()) {
        if (each.is_string()) this->path(each.get_string(), at);
      }
    }
  }

 private:
  void path(std::string_view text, const Pointer& at) {
    // metadata has the members of ObjectMeta, regardless of the schema.
    const auto path = JsonPath::parse(text);
    if (!path || text.starts_with(".metadata")) return;
    const std::string missing = missing_member(&type_, path->members());
    if (missing.empty()) return;
    Pointer place = at_;
    place.insert(place.end(), at.begin(), at.end());
    report_(place, quoted(text) + " leads nowhere: the schema has no member " + quoted(missing) + " there");
  }

  const Type& type_;
  const Report& report_;
  const Pointer at_;
};

}  // namespace

void check_kinds(const Object& document, const std::function<const Schema*(const GroupVersionKind&)>& type_of, const Report& report) {
  const std::string group(get_string(document, "group"));
  const Array& versions = document.at("versions").get_array();
  const Array* kinds = get_array(document, "kinds");
  for (std::size_t i = 0; kinds != nullptr && i < kinds->size(); ++i) {
    const Object& kind = (*kinds)[i].get_object();
    const Array* own = get_array(kind, "versions");
    std::vector<std::string> names;
    for (const Value& each : own != nullptr ? *own : Array()) names.emplace_back(each.get_string());
    if (names.empty()) names.emplace_back(get_string(versions.front().get_object(), "name"));
    for (const std::string& version : names) {
      const GroupVersionKind gvk{group, version, std::string(get_string(kind, "kind"))};
      const Schema* const found = type_of(gvk);
      const Type* const type = found != nullptr ? found->compiled() : nullptr;
      const Pointer at{"kinds", std::to_string(i)};
      if (type == nullptr) {
        report(at, "no schema document has a definition whose x-kubernetes-group-version-kind is " + gvk.group + ", " + gvk.version + ", " +
                       gvk.kind);
      } else if (version == names.front()) {
        KindCheck(*type, report, at).columns(kind);
      }
    }
  }
}

}  // namespace backplane::documents
