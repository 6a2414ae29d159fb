// Merges an object into another (upstream: typed.Merge): applied values win, lists that are not atomic are merged by item.
#include <algorithm>
#include <unordered_set>

#include "engine/object_fields.hpp"
#include "fields/check.hpp"
#include "fields/items.hpp"

namespace backplane::fields {
namespace {

class Merger {
 public:
  explicit Merger(json::storage_ptr storage) : storage_(std::move(storage)) {}
  Problems problems;

  // One of the values may be null, but not both.
  Value merge(const TypeRef& type, const Value* live, const Value* applied) {
    if (applied == nullptr) return Value(*live, storage_);
    if (live == nullptr) return Value(*applied, storage_);
    const Form form = form_of(type);
    const Form was = narrowed(form, live);
    const Form is = narrowed(form, applied);
    if (!was.same_kinds(is)) check_only(was, *live, *applied);
    return look(is, *live, *applied);
  }

  Object members(const MapForm& form, const Object* live, const Object* applied) {
    Object out(storage_);
    out.reserve((live == nullptr ? 0 : live->size()) + (applied == nullptr ? 0 : applied->size()));
    std::size_t hint = 0;
    if (live != nullptr) {
      for (const auto& was : *live) {
        const Value* is = applied == nullptr ? nullptr : find(*applied, was.key());
        if (is == nullptr)
          out.emplace(was.key(), was.value());
        else
          out.emplace(was.key(), member(form, was.key(), was.value(), *is, hint));
      }
    }
    if (applied == nullptr) return out;
    for (const auto& is : *applied) {
      if (live == nullptr || find(*live, is.key()) == nullptr) out.emplace(is.key(), is.value());
    }
    return out;
  }

 private:
  Value member(const MapForm& form, std::string_view key, const Value& live, const Value& applied, std::size_t& hint) {
    const MapForm::Field* field = form.find(key, hint);
    const std::size_t problem = problems.size();
    Value out = merge(field == nullptr ? form.elements : field->type, &live, &applied);
    problems.below_field(problem, key);
    return out;
  }

  // A value that changes its kind must also be valid as the former kind.
  void check_only(const Form& form, const Value& live, const Value& applied) {
    if (form.map == nullptr && form.scalar != Scalar::kNone) check_scalar(form.scalar, live, applied);
  }

  bool check_scalar(Scalar kind, const Value& live, const Value& applied) {
    const std::string was = scalar_problem(kind, &live, "lhs: ");
    const std::string is = was.empty() ? was : scalar_problem(kind, &applied, "rhs: ");
    if (is.empty()) return true;
    problems.add(was);
    problems.add(is);
    return false;
  }

  Value look(const Form& form, const Value& live, const Value& applied) {
    if (form.map != nullptr) {
      const Object* was = live.is_object() ? &live.get_object() : nullptr;
      const Object* is = applied.is_object() ? &applied.get_object() : nullptr;
      const bool empty = (was == nullptr || was->empty()) && (is == nullptr || is->empty());
      if (form.map_atomic || empty) return Value(applied, storage_);
      return Value(members(*form.map, was, is));
    }
    if (form.scalar != Scalar::kNone) {
      check_scalar(form.scalar, live, applied);
      return Value(applied, storage_);
    }
    if (form.list != nullptr) {
      const Array* was = live.is_array() ? &live.get_array() : nullptr;
      const Array* is = applied.is_array() ? &applied.get_array() : nullptr;
      const bool empty = (was == nullptr || was->empty()) && (is == nullptr || is->empty());
      if (form.list_atomic || empty) return Value(applied, storage_);
      return Value(items(*form.list, was, is));
    }
    problems.add("schema error: invalid atom: inlined");
    return Value(storage_);
  }

  Array items(const ListForm& form, const Array* live, const Array* applied);

  json::storage_ptr storage_;

  friend class ListMerger;
};

// Items have the order of the applied list; items that only the live list has stay after their predecessors.
class ListMerger {
 public:
  ListMerger(Merger& merger, const ListForm& form, const ItemIndex& live, const ItemIndex& applied, Array& out)
      : merger_(merger), form_(form), live_(live), applied_(applied), out_(out) {
    for (const ItemIndex::Item& item : applied.items()) {
      if (live.find(item.element).count != 0) shared_.push_back(&item.element);
    }
  }

  void run() {
    const std::vector<ItemIndex::Item>& was = live_.items();
    const std::vector<ItemIndex::Item>& is = applied_.items();
    std::size_t old_at = 0, new_at = 0;
    while (old_at < was.size() || new_at < is.size()) {
      if (old_at < was.size() && new_at < is.size()) {
        const PathElement& element = was[old_at].element;
        if (element == is[new_at].element) {
          take(is[new_at]);
          ++old_at;
          ++new_at;
          ++next_shared_;
          continue;
        }
        // The applied list has the item too, but another item of that list comes first.
        const bool waits = next_shared_ < shared_.size() && !(*shared_[next_shared_] == element);
        if (waits && applied_.find(element).count != 0) {
          ++old_at;
          continue;
        }
      }
      if (old_at < was.size()) {
        const ItemIndex::Item& item = was[old_at];
        if (applied_.find(item.element).count == 0) {
          out_.emplace_back(*item.value);
          ++old_at;
          continue;
        }
        if (taken_.count(item.element.code()) != 0) ++old_at;
      }
      if (new_at < is.size()) {
        const PathElement& element = is[new_at].element;
        take(is[new_at]);
        ++new_at;
        if (next_shared_ < shared_.size() && *shared_[next_shared_] == element) ++next_shared_;
      }
    }
  }

 private:
  // Merges the applied item into the live one.  Repeated live items are replaced by the applied one.
  void take(const ItemIndex::Item& item) {
    taken_.insert(item.element.code());
    const ItemIndex::Found was = live_.find(item.element);
    static const Value kNothing;
    const Value* live = was.count > 1 ? &kNothing : was.first;
    const std::size_t problem = merger_.problems.size();
    out_.push_back(merger_.merge(form_.items, live, item.value));
    merger_.problems.below(problem, item.element);
  }

  Merger& merger_;
  const ListForm& form_;
  const ItemIndex& live_;
  const ItemIndex& applied_;
  Array& out_;
  std::vector<const PathElement*> shared_;  // the items of both lists, in the order of the applied list
  std::size_t next_shared_ = 0;
  std::unordered_set<std::string_view> taken_;
};

Array Merger::items(const ListForm& form, const Array* live, const Array* applied) {
  Array out(storage_);
  const std::size_t problem = problems.size();
  const ItemIndex is(form, applied, &problems);
  const ItemIndex was(form, live, &problems);
  if (problems.size() != problem) return out;
  out.reserve(std::max(is.items().size(), was.items().size()));
  for (const ItemIndex::Item& item : is.items()) {
    if (is.find(item.element).first == item.value) continue;
    std::string text = "duplicate entries for key ";
    append_exact_text(text, item.element);
    problems.add(std::move(text));
  }
  if (problems.size() == problem) ListMerger(*this, form, was, is, out).run();
  return out;
}

}  // namespace
}  // namespace backplane::fields

namespace backplane BACKPLANE_API {

Result<Object> merge_fields(const Schema* type, const Object& live, const Object& applied, json::storage_ptr storage) {
  fields::Merger merger(storage);
  const fields::Form form = fields::form_of(fields::root_type(type));
  Object out = form.map == nullptr || form.map_atomic ? Object(applied, storage) : merger.members(*form.map, &live, &applied);
  if (Status status = merger.problems.status(); !status.ok()) return status;
  return out;
}

}  // namespace BACKPLANE_API
