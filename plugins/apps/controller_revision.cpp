// ControllerRevisions: a frozen state of a controller's template.
#include "backplane/kit/strategy.hpp"
#include "backplane/kit/table.hpp"
#include "backplane/kit/walk.hpp"
#include "backplane/meta.hpp"
#include "strategies.hpp"

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

class ControllerRevisionStrategy final : public KindStrategy {
 public:
  const TableConvertor& table_convertor() const override {
    static const PrintedTable table({name_column(), text_column("Controller", "The controller whose state it is."),
                                     text_column("Revision", "Number of the state."), age_column()},
                                    [](const Object& object, std::int64_t now, Array& cells) {
                                      cells.emplace_back(meta_name(object));
                                      cells.emplace_back(print_controller(object));
                                      cells.emplace_back(get_int(object, "revision").value_or(0));
                                      cells.emplace_back(age_of(object, now));
                                    });
    return table;
  }

 protected:
  void check(const Object& object, FieldErrors& errors) const override {
    if (!has(object, "data")) errors.required("data", "data is mandatory");
    check_not_negative(object, "", {"revision"}, errors);
  }
  void check_change(const Object& object, const Object& old, FieldErrors& errors) const override {
    check_immutable(find(object, "data"), find(old, "data"), "data", errors);
  }
};

}  // namespace

std::shared_ptr<const Strategy> controller_revision_strategy() { return std::make_shared<ControllerRevisionStrategy>(); }

}  // namespace backplane::apps
