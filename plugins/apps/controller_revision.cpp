// ControllerRevisions: a frozen state of a controller's template.
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "kinds.hpp"

namespace backplane::apps {
namespace {

using namespace kit;

// "kind.group/name" of the owner that controls the object.
std::string print_controller(const Object& object) {
  std::string out = "<none>";
  each(object_or_empty(object, "metadata"), "ownerReferences", [&](const Object& owner, std::size_t) {
    if (!get_bool(owner, "controller").value_or(false)) return;
    std::string kind(get_string(owner, "kind"));
    for (char& letter : kind) letter = static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter + 32 : letter);
    const GroupVersion gv = GroupVersion::parse(get_string(owner, "apiVersion"));
    out = GroupResource{gv.group, kind}.to_string() + "/" + std::string(get_string(owner, "name"));
  });
  return out;
}

void print_controller_cell(const Object& object, std::int64_t, Array& cells) { cells.emplace_back(print_controller(object)); }

}  // namespace

KindRow controller_revision_row() {
  return {.resource = "controllerrevisions",
          .kind = "ControllerRevision",
          .facts = {.columns = {name_column(), computed_column("Controller", "The controller whose state it is.", print_controller_cell),
                                count_column("Revision", "Number of the state.", ".revision"), age_column()}},
          .storage_prefix = "controllerrevisions"};
}

}  // namespace backplane::apps
