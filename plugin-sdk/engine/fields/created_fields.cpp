// The managed fields of a new object, written while the object is traversed, without a set in between.
#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <charconv>

#include "engine/object_fields.hpp"
#include "engine/raw_fields.hpp"
#include "fields/items.hpp"
#include "fields/node.hpp"
#include "fields/wire.hpp"

namespace backplane::fields {
namespace {

// The elements to omit: of `stripped` only the elements themselves, of `excluded` also everything below them.
struct ExcludedFields {
  const Node* stripped = nullptr;
  const Node* excluded = nullptr;

  bool none() const noexcept { return stripped == nullptr && excluded == nullptr; }
};

const Entry* find_field(const Node* node, std::string_view name) noexcept {
  if (node == nullptr) return nullptr;
  for (const Entry& entry : node->entries) {
    if (entry.element.kind() == PathElement::Kind::kField && entry.element.name() == name) return &entry;
  }
  return nullptr;
}

// Integers whose text is the same after conversion to a double.
constexpr std::int64_t kExact = std::int64_t{1} << 53;

class Creation {
 public:
  explicit Creation(std::string& out) : out_(out) {}
  // False: the object needs the general algorithm, and the output is invalid.
  bool ok() const noexcept { return ok_; }

  void object(const TypeRef& type, const Object& before, const Object& after, ExcludedFields left) {
    const Form form = form_of(type);
    if (form.map == nullptr) return fail();
    out_ += '{';
    if (!form.map_atomic) members(*form.map, &before, after, left);
    out_ += '}';
  }

 private:
  void fail() noexcept { ok_ = false; }

  struct Member {
    const json::key_value_pair* value;
    TypeRef type;
  };

  // `before`: null if the whole object is new.
  void members(const MapForm& form, const Object* before, const Object& after, ExcludedFields left) {
    boost::container::small_vector<Member, 24> order;
    order.reserve(after.size());
    std::size_t hint = 0;
    for (const auto& member : after) {
      const MapForm::Field* field = form.find(member.key(), hint);
      order.push_back({&member, field == nullptr ? form.elements : field->type});
    }
    std::sort(order.begin(), order.end(), [](const Member& a, const Member& b) { return a.value->key() < b.value->key(); });
    for (const Member& each : order) {
      const Entry* stripped = find_field(left.stripped, each.value->key());
      const Entry* excluded = find_field(left.excluded, each.value->key());
      if (excluded != nullptr && excluded->member) continue;
      const ExcludedFields below{stripped != nullptr ? stripped->below.get() : nullptr,
                                 excluded != nullptr ? excluded->below.get() : nullptr};
      const Value* was = before != nullptr ? find(*before, each.value->key()) : nullptr;
      if (was != nullptr && same_value(*was, each.value->value())) continue;
      const std::size_t begin = out_.size();
      separate();
      append_field_name(out_, each.value->key(), wire_);
      const bool may_own = stripped == nullptr || !stripped->member;
      const std::size_t open = out_.size();
      if (was == nullptr && may_own && is_leaf(each.type, each.value->value())) {
        out_.append(R"({})", 2);
      } else if (was == nullptr) {
        begin_element(may_own);
        whole(each.type, each.value->value(), below);
        end_element(begin, open, may_own);
      } else {
        changed(each.type, *was, each.value->value(), below, begin, may_own);
      }
    }
  }

  // Whether the value is a leaf, that is, a scalar, as most members are.
  static bool is_leaf(const TypeRef& type, const Value& value) {
    return !value.is_structured() && narrowed(form_of(type), &value).scalar != Scalar::kNone;
  }

  void separate() {
    if (out_.back() != '{') out_ += ',';
  }
  void begin_element(bool owned) { out_.append(owned ? std::string_view(R"({".":{})") : std::string_view("{")); }
  // `begin`: of the element, its name included; `open`: of its value.
  void end_element(std::size_t begin, std::size_t open, bool owned) {
    constexpr std::size_t kOwned = std::string_view(R"({".":{})").size();
    const bool below = out_.size() > open + (owned ? kOwned : 1);
    if (!below) out_.resize(open);
    if (below)
      out_ += '}';
    else if (owned)
      out_.append("{}");
    else
      out_.resize(begin);
  }

  void whole(const TypeRef& type, const Value& value, ExcludedFields left) {
    const Form form = narrowed(form_of(type), &value);
    if (form.map != nullptr) {
      if (!form.map_atomic && value.is_object()) members(*form.map, nullptr, value.get_object(), left);
    } else if (form.scalar != Scalar::kNone) {
      return;
    } else if (form.list == nullptr || !left.none()) {
      fail();
    } else if (!form.list_atomic && value.is_array()) {
      items(*form.list, value.get_array());
    }
  }

  // A member that existed before: an empty value that the server has filled.
  void changed(const TypeRef& type, const Value& was, const Value& is, ExcludedFields left, std::size_t begin, bool may_own) {
    const Form all = form_of(type);
    const Form form = narrowed(all, &is);
    if (!narrowed(all, &was).same_kinds(form)) return fail();
    const std::size_t open = out_.size();
    begin_element(false);
    bool leaf = false;
    if (form.map != nullptr) {
      if (!is.is_object() || is.get_object().empty()) return fail();
      leaf = form.map_atomic;
      if (!leaf) members(*form.map, was.if_object(), is.get_object(), left);
    } else if (form.scalar != Scalar::kNone || form.list == nullptr || !left.none()) {
      return fail();
    } else {
      const bool filled = !was.is_array() || was.get_array().empty();
      if (!is.is_array() || is.get_array().empty() || !filled) return fail();
      leaf = form.list_atomic;
      if (!leaf) items(*form.list, is.get_array());
    }
    end_element(begin, open, leaf && may_own);
  }

  void items(const ListForm& form, const Array& list) {
    if (list.size() == 1 && single(form, list.front())) return;
    Problems problems;
    const ItemIndex index(form, &list, &problems);
    if (problems.size() != 0) return fail();
    boost::container::small_vector<const ItemIndex::Item*, 16> order;
    order.reserve(index.items().size());
    for (const ItemIndex::Item& item : index.items()) order.push_back(&item);
    std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->element < b->element; });
    for (std::size_t i = 0; i < order.size();) {
      std::size_t end = i + 1;
      while (end < order.size() && order[end]->element == order[i]->element) ++end;
      const std::size_t begin = out_.size();
      separate();
      append_element_name(out_, order[i]->element, wire_);
      // Repeated items count as one leaf.
      element(begin, form, end == i + 1 ? order[i]->value : nullptr);
      i = end;
    }
  }

  void element(std::size_t begin, const ListForm& form, const Value* item) {
    const std::size_t open = out_.size();
    begin_element(true);
    if (item != nullptr) whole(form.items, *item, {});
    end_element(begin, open, true);
  }

  // The only item of a map list, with a simple key.
  bool single(const ListForm& form, const Value& item) {
    if (form.keys.empty() || !item.is_object() || !std::is_sorted(form.keys.begin(), form.keys.end())) return false;
    const std::size_t begin = out_.size();
    separate();
    out_.append(R"("k:)");
    char lead = '{';
    for (const std::string& key : form.keys) {
      out_ += std::exchange(lead, ',');
      if (!append_key_member(key, find(item.get_object(), key))) {
        out_.resize(begin);
        return false;
      }
    }
    out_.append(R"(}":)");
    element(begin, form, &item);
    return true;
  }

  bool append_key_member(std::string_view key, const Value* value) {
    if (value == nullptr || !is_plain_name(key)) return false;
    out_.append(R"(\")").append(key).append(R"(\":)");
    if (value->is_string()) {
      const std::string_view text = value->get_string();
      if (!is_plain_name(text)) return false;
      out_.append(R"(\")").append(text).append(R"(\")");
      return true;
    }
    if (!value->is_int64() || value->get_int64() > kExact || value->get_int64() < -kExact) return false;
    char digits[24];
    const auto end = std::to_chars(digits, digits + sizeof digits, value->get_int64()).ptr;
    out_.append(digits, static_cast<std::size_t>(end - digits));
    return true;
  }

  std::string& out_;
  std::string wire_;
  bool ok_ = true;
};

}  // namespace
}  // namespace backplane::fields

namespace backplane BACKPLANE_API {

bool append_created_fields(std::string& out, const Schema* type, const Object& before, const Object& after, const FieldSet& stripped,
                           const FieldSet& excluded) {
  fields::Creation creation(out);
  creation.object(fields::root_type(type), before, after, {stripped.root().get(), excluded.root().get()});
  return creation.ok();
}

}  // namespace BACKPLANE_API
