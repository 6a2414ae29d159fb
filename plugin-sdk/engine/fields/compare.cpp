// Differences between two objects of a type.
#include "engine/object_fields.hpp"
#include "fields/check.hpp"
#include "fields/items.hpp"
#include "fields/node.hpp"

namespace backplane::fields {
namespace {

// Down to this depth, equal parts are skipped without their types.  Deeper parts are not compared first, because a deep object would be
// compared again at every level.
constexpr std::size_t kLookFirst = 32;

struct Level {
  Entries added, modified, removed;
};

// The result for one value: whether the value itself differs, and the differences below it.
struct Found {
  bool added = false;
  bool modified = false;
  bool removed = false;
  Level below;
};

void keep(Entries& into, const PathElement& element, Entries&& below, bool member) {
  NodeRef node = below.empty() ? nullptr : node_of(std::move(below));
  if (member || node) into.push_back({element, std::move(node), member});
}

void keep(Level& into, const PathElement& element, Found&& found) {
  keep(into.added, element, std::move(found.below.added), found.added);
  keep(into.modified, element, std::move(found.below.modified), found.modified);
  keep(into.removed, element, std::move(found.below.removed), found.removed);
}

bool nothing(const Found& found) noexcept {
  return !found.added && !found.modified && !found.removed && found.below.added.empty() && found.below.modified.empty() &&
         found.below.removed.empty();
}

const Object* object_of(const Value* value) noexcept { return value != nullptr && value->is_object() ? &value->get_object() : nullptr; }
const Array* array_of(const Value* value) noexcept { return value != nullptr && value->is_array() ? &value->get_array() : nullptr; }

class Comparer {
 public:
  Problems problems;

  void compare_objects(const TypeRef& type, const Object& before, const Object& after, Level& level) {
    const Form form = form_of(type);
    if (form.map == nullptr)
      problems.add("schema error: invalid atom: inlined");
    else if (!form.map_atomic)
      members(*form.map, &before, &after, level);
  }

 private:
  // At most one of the values is null.
  void compare(const TypeRef& type, const Value* before, const Value* after, Found& found) {
    if (before == nullptr || after == nullptr) {
      (before == nullptr ? found.added : found.removed) = true;
      whole(type, before == nullptr ? *after : *before, before == nullptr ? found.below.added : found.below.removed);
      return;
    }
    const Form form = form_of(type);
    const Form was = narrowed(form, before);
    const Form is = narrowed(form, after);
    ++depth_;
    if (!was.same_kinds(is)) look(was, before, after, found);
    look(is, before, after, found);
    --depth_;
  }

  // Records a value that only one of the objects has, and everything below it, as added or removed. Every create uses this function.
  void whole(const TypeRef& type, const Value& value, Entries& below) {
    const Form form = narrowed(form_of(type), &value);
    if (form.map != nullptr) {
      if (!form.map_atomic && value.is_object()) whole_members(*form.map, value.get_object(), below);
    } else if (form.scalar != Scalar::kNone) {
      return;
    } else if (form.list == nullptr) {
      problems.add("schema error: invalid atom: inlined");
    } else if (!form.list_atomic && value.is_array()) {
      whole_items(*form.list, value.get_array(), below);
    }
  }

  void whole_members(const MapForm& form, const Object& object, Entries& out) {
    std::size_t hint = 0;
    out.reserve(object.size());
    for (const auto& member : object) {
      const MapForm::Field* field = form.find(member.key(), hint);
      const std::size_t problem = problems.size();
      Entries below;
      whole(field == nullptr ? form.elements : field->type, member.value(), below);
      problems.below_field(problem, member.key());
      out.push_back({PathElement::field(member.key()), node_of(std::move(below)), true});
    }
  }

  void whole_items(const ListForm& form, const Array& list, Entries& out) {
    const ItemIndex index(form, &list, &problems);
    out.reserve(index.items().size());
    for (const ItemIndex::Item& item : index.items()) {
      const ItemIndex::Found found = index.find(item.element);
      if (found.first != item.value) continue;
      Entries below;
      const std::size_t problem = problems.size();
      // Repeated items count as one leaf.
      if (found.count == 1) whole(form.items, *item.value, below);
      problems.below(problem, item.element);
      out.push_back({item.element, node_of(std::move(below)), true});
    }
  }

  // Neither value is null.
  void look(const Form& form, const Value* before, const Value* after, Found& found) {
    if (form.map != nullptr) return map(form, before, after, found);
    if (form.scalar != Scalar::kNone) return scalar(form.scalar, before, after, found);
    if (form.list != nullptr) return list(form, before, after, found);
    problems.add("schema error: invalid atom: inlined");
  }

  void leaf(const Value* before, const Value* after, Found& found) {
    if (!same_value(*before, *after)) found.modified = true;
  }

  void scalar(Scalar kind, const Value* before, const Value* after, Found& found) {
    const std::string was = scalar_problem(kind, before, "lhs: ");
    const std::string is = was.empty() ? was : scalar_problem(kind, after, "rhs: ");
    if (is.empty()) return leaf(before, after, found);
    problems.add(was);
    problems.add(is);
  }

  void map(const Form& form, const Value* before, const Value* after, Found& found) {
    const Object* was = object_of(before);
    const Object* is = object_of(after);
    const bool empty = (was == nullptr || was->empty()) && (is == nullptr || is->empty());
    if (form.map_atomic || empty) return leaf(before, after, found);
    members(*form.map, was, is, found.below);
  }

  void members(const MapForm& form, const Object* before, const Object* after, Level& level) {
    if ((before == nullptr || before->empty()) && after != nullptr) return whole_members(form, *after, level.added);
    std::size_t hint = 0, met = 0, place = 0;
    if (before != nullptr) {
      for (const auto& was : *before) {
        const Value* is = after == nullptr ? nullptr : counterpart(*after, was.key(), place);
        ++place;
        if (is != nullptr) {
          ++met;
          if (is_unchanged(was.value(), *is)) continue;
        }
        member(form, was.key(), &was.value(), is, hint, level);
      }
    }
    if (after == nullptr || met == after->size()) return;
    for (const auto& is : *after) {
      if (before == nullptr || find(*before, is.key()) == nullptr) member(form, is.key(), nullptr, &is.value(), hint, level);
    }
  }

  // Both objects are nearly always in the same order, so the same place is tried first.
  static const Value* counterpart(const Object& object, std::string_view key, std::size_t place) {
    if (place < object.size() && object.begin()[place].key() == key) return &object.begin()[place].value();
    return find(object, key);
  }

  bool is_unchanged(const Value& before, const Value& after) const {
    const bool composed = before.is_structured() && !(before.is_object() && before.get_object().empty());
    return (!composed || depth_ < kLookFirst) && same_value(before, after);
  }

  void member(const MapForm& form, std::string_view key, const Value* before, const Value* after, std::size_t& hint, Level& level) {
    const MapForm::Field* field = form.find(key, hint);
    Found found;
    const std::size_t problem = problems.size();
    compare(field == nullptr ? form.elements : field->type, before, after, found);
    problems.below_field(problem, key);
    if (!nothing(found)) keep(level, PathElement::field(key), std::move(found));
  }

  void list(const Form& form, const Value* before, const Value* after, Found& found) {
    const Array* was = array_of(before);
    const Array* is = array_of(after);
    const bool empty = (was == nullptr || was->empty()) && (is == nullptr || is->empty());
    if (form.list_atomic || empty) return leaf(before, after, found);
    items(*form.list, was, is, found.below);
  }

  void items(const ListForm& form, const Array* before, const Array* after, Level& level) {
    if ((before == nullptr || before->empty()) && after != nullptr) return whole_items(form, *after, level.added);
    const ItemIndex was(form, before, &problems);
    const ItemIndex is(form, after, &problems);
    for (const ItemIndex::Item& item : was.items()) {
      const ItemIndex::Found then = was.find(item.element);
      if (then.first == item.value) element(form, item.element, was, is, level);
    }
    for (const ItemIndex::Item& item : is.items()) {
      const bool first = is.find(item.element).first == item.value;
      if (first && was.find(item.element).count == 0) element(form, item.element, was, is, level);
    }
  }

  void element(const ListForm& form, const PathElement& element, const ItemIndex& before, const ItemIndex& after, Level& level) {
    const ItemIndex::Found was = before.find(element);
    const ItemIndex::Found is = after.find(element);
    Found found;
    if (was.count <= 1 && is.count <= 1) {
      if (was.count == 1 && is.count == 1 && is_unchanged(*was.first, *is.first)) return;
      item(form, element, was.first, is.first, found);
    } else if (was.count >= 2 && is.count >= 2) {
      // Repeated items count as one leaf.
      const auto same = [](const Value* x, const Value* y) { return same_value(*x, *y); };
      const std::vector<const Value*> old_items = before.all(element), new_items = after.all(element);
      found.modified = !std::equal(old_items.begin(), old_items.end(), new_items.begin(), new_items.end(), same);
    } else if (was.count >= 2) {
      if (is.count != 0) item(form, element, nullptr, is.first, found);
      found.removed = true;
    } else {
      if (was.count != 0) item(form, element, was.first, nullptr, found);
      found.added = true;
    }
    if (!nothing(found)) keep(level, element, std::move(found));
  }

  void item(const ListForm& form, const PathElement& element, const Value* before, const Value* after, Found& found) {
    const std::size_t problem = problems.size();
    compare(form.items, before, after, found);
    problems.below(problem, element);
  }

  std::size_t depth_ = 0;
};

FieldSet set_of(Entries&& entries) { return FieldSet(node_of(std::move(entries))); }

}  // namespace
}  // namespace backplane::fields

namespace backplane BACKPLANE_API {

FieldChanges FieldChanges::filtered(const FieldFilter& filter) const {
  if (filter.everything()) return *this;
  return FieldChanges{filter.apply(added), filter.apply(modified), filter.apply(removed)};
}

Result<FieldChanges> compare_fields(const Schema* type, const Object& before, const Object& after) {
  fields::Comparer comparer;
  fields::Level level;
  comparer.compare_objects(fields::root_type(type), before, after, level);
  if (Status status = comparer.problems.status(); !status.ok()) return status;
  FieldChanges out;
  out.added = fields::set_of(std::move(level.added));
  out.modified = fields::set_of(std::move(level.modified));
  out.removed = fields::set_of(std::move(level.removed));
  return out;
}

}  // namespace BACKPLANE_API
