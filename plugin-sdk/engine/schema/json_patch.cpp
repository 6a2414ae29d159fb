// RFC 6902 with the deviations of the library that upstream uses.
#include <algorithm>
#include <charconv>
#include <optional>

#include "backplane/types/json_reading.hpp"
#include "backplane/types/schema.hpp"
#include "engine/json_patch.hpp"
#include "engine/raw_json.hpp"

namespace backplane BACKPLANE_API {
namespace {

constexpr std::size_t kMaxOperations = 10000;
// The maximum size that copy operations may add in one patch, as in upstream: the size of a body.
constexpr std::size_t kMaxCopiedBytes = 3 * 1024 * 1024;
// The number of values that the operations of one patch may visit or shift, in addition to those that it contains.
constexpr std::size_t kMaxTouchedValues = 100'000'000;
constexpr std::size_t kFewMembers = 64;

// A position in the document: a container and the last segment of the pointer.
struct Place {
  Value* container = nullptr;  // null: no such container
  std::string key;
};

std::string unescape(std::string_view segment) {
  std::string out;
  for (std::size_t i = 0; i < segment.size(); ++i) {
    const bool escaped = segment[i] == '~' && i + 1 < segment.size() && (segment[i + 1] == '0' || segment[i + 1] == '1');
    if (escaped) {
      out.push_back(segment[++i] == '0' ? '~' : '/');
    } else {
      out.push_back(segment[i]);
    }
  }
  return out;
}

// An index into a list of `size` items; negative ones count from the end.
std::optional<std::size_t> index_of(std::string_view key, std::size_t size) noexcept {
  long long index = 0;
  if (key.starts_with('+')) key.remove_prefix(1);
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
  if (error != std::errc() || end != key.data() + key.size()) return std::nullopt;
  if (index < 0) index += static_cast<long long>(size);
  if (index < 0 || index >= static_cast<long long>(size)) return std::nullopt;
  return static_cast<std::size_t>(index);
}

// The library's errors for an invalid index, or one out of range.
std::string index_problem(std::string_view key) {
  long long index = 0;
  const std::string_view digits = key.starts_with('+') ? key.substr(1) : key;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc() || end != digits.data() + digits.size()) return "strconv.Atoi: parsing " + quoted(key) + ": invalid syntax";
  return "Unable to access invalid index: " + std::to_string(index) + ": invalid index referenced";
}

Value* get(Value& container, std::string_view key) noexcept {
  if (container.is_object()) return find(container.get_object(), key);
  if (!container.is_array()) return nullptr;
  const auto index = index_of(key, container.get_array().size());
  return index ? &container.get_array()[*index] : nullptr;
}

// As upstream, text before the first '/' is ignored.
Place locate(Value& document, std::string_view pointer) {
  Place place;
  std::size_t slash = pointer.find('/');
  if (slash == std::string_view::npos) return place;
  Value* at = &document;
  pointer.remove_prefix(slash + 1);
  while ((slash = pointer.find('/')) != std::string_view::npos) {
    at = get(*at, unescape(pointer.substr(0, slash)));
    if (at) open_raw(*at);
    if (!at || (!at->is_object() && !at->is_array())) return place;
    pointer.remove_prefix(slash + 1);
  }
  place.container = at;
  place.key = unescape(pointer);
  return place;
}

bool same(const Value& one, const Value& other);

bool same_structure(const Value& left, const Value& right) {
  if (left.is_object() && right.is_object()) {
    const Object& members = right.get_object();
    return left.get_object().size() == members.size() &&
           std::all_of(left.get_object().begin(), left.get_object().end(), [&](const auto& member) {
             const Value* present = find(members, member.key());
             return present != nullptr && same(member.value(), *present);
           });
  }
  if (!left.is_array() || !right.is_array()) return false;
  return std::equal(left.get_array().begin(), left.get_array().end(), right.get_array().begin(), right.get_array().end(), same);
}

// Equality of JSON patch; scalars of raw values are compared as text.
bool same(const Value& one, const Value& other) {
  if (one == other) return true;
  if (!is_raw(one) && !is_raw(other)) return same_structure(one, other);
  Value left(one), right(other);
  open_raw(left);
  open_raw(right);
  if (is_raw(left) || is_raw(right)) return to_json(left) == to_json(right);
  return left.is_structured() && right.is_structured() ? same_structure(left, right) : to_json(left) == to_json(right);
}

// The number of containers around the value of a pointer.
std::size_t levels_above(std::string_view pointer) noexcept {
  return static_cast<std::size_t>(std::count(pointer.begin(), pointer.end(), '/'));
}

// The number of values of a tree, up to `most`.  For trees of at most kMaxJsonDepth levels.
std::size_t count_values(const Value& value, std::size_t most) noexcept {
  std::size_t count = 1;
  if (const Array* array = value.if_array()) {
    for (const Value& item : *array) {
      if (count >= most) break;
      count += count_values(item, most - count);
    }
  } else if (const Object* object = value.if_object()) {
    for (const auto& member : *object) {
      if (count >= most) break;
      count += count_values(member.value(), most - count);
    }
  }
  return count;
}

class Patcher {
 public:
  explicit Patcher(Value& document) : document_(document) {}

  // The error of a patch that exceeds the limits; ok if it merely cannot be applied.
  Status take_failure() { return std::move(failure_); }
  JsonPatchProblem take_problem() { return std::move(problem_); }

  bool apply(const Object& operation) {
    const std::string op(get_string(operation, "op"));
    const Value* path = find(operation, "path");
    if (!path || !path->is_string()) return fail(op + " operation failed to decode path: missing value");
    const std::string_view pointer = path->get_string();
    if (op == "add") return put(pointer, value_of(operation));
    if (op == "remove") return remove(pointer);
    if (op == "replace") return replace(pointer, value_of(operation));
    if (op == "test") return test(pointer, find(operation, "value"));
    if (op != "move" && op != "copy") return fail("Unexpected kind: " + op);
    const Value* from = find(operation, "from");
    if (!from || !from->is_string()) {
      return fail(op + " operation failed to decode from: operation, missing from field: missing value");
    }
    return op == "move" ? move(from->get_string(), pointer) : copy(from->get_string(), pointer);
  }

 private:
  Value value_of(const Object& operation) const {
    const Value* value = find(operation, "value");
    return value ? Value(*value, document_.storage()) : Value(nullptr, document_.storage());
  }
  // Checks the nesting limit of documents; called before a value is placed anywhere.
  bool fits(std::string_view pointer, const Value& value) {
    const std::size_t above = levels_above(pointer);
    if (above <= kMaxJsonDepth && !nests_deeper(value, kMaxJsonDepth - above)) return true;
    failure_ = bad_request("the patched object would be nested deeper than " + std::to_string(kMaxJsonDepth) + " levels");
    return false;
  }
  bool touch(std::size_t values) {
    touched_ += values;
    if (touched_ <= kMaxTouchedValues) return true;
    failure_ = request_entity_too_large("the JSON patch moves too many values");
    return false;
  }
  bool fail(std::string text) {
    problem_.text = std::move(text);
    return false;
  }
  // Like fail(), with `start` before the error of the previous step.
  bool fail_in(const std::string& start) { return fail(start + problem_.text); }
  bool fail_test(std::string_view pointer) {
    problem_.test_failed = true;
    return fail("testing value " + std::string(pointer) + " failed: test failed");
  }
  bool is_missing(std::string_view step, std::string_view pointer, std::string_view quote = {}) {
    return fail(std::string(step) + ": " + std::string(quote) + std::string(pointer) + std::string(quote) + ": missing value");
  }

  bool put(std::string_view pointer, Value value) {
    if (!fits(pointer, value)) return false;
    const Place place = locate(document_, pointer);
    if (!place.container) return is_missing("add operation does not apply: doc is missing path", pointer, "\"");
    return add(place, std::move(value)) || fail_in("error in add for path: '" + std::string(pointer) + "': ");
  }
  bool add(const Place& place, Value value) {
    if (place.container->is_object()) {
      place.container->get_object().insert_or_assign(place.key, std::move(value));
      return true;
    }
    Array& array = place.container->get_array();
    const auto index = place.key == "-" ? std::optional(array.size()) : index_of(place.key, array.size() + 1);
    if (!index) {
      const std::string problem = index_problem(place.key);
      return fail(problem.starts_with("strconv") ? "value was not a proper array index: '" + place.key + "': " + problem : problem);
    }
    if (!touch(array.size() - *index)) return false;
    array.insert(array.begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
    return true;
  }
  bool remove(std::string_view pointer) {
    const Place place = locate(document_, pointer);
    if (!place.container) return is_missing("remove operation does not apply: doc is missing path", pointer, "\"");
    return remove(place) || fail_in("error in remove for path: '" + std::string(pointer) + "': ");
  }
  bool remove(const Place& place) {
    if (place.container->is_object()) {
      return remove_member(place.container->get_object(), place.key) ||
             fail("Unable to remove nonexistent key: " + place.key + ": missing value");
    }
    Array& array = place.container->get_array();
    const auto index = index_of(place.key, array.size());
    if (!index) return fail(index_problem(place.key));
    if (!touch(array.size() - *index)) return false;
    array.erase(array.begin() + static_cast<std::ptrdiff_t>(*index));
    return true;
  }
  // In a large object the last member replaces the removed one, which takes constant time: members are sorted before they are printed.
  bool remove_member(Object& object, std::string_view key) {
    if (object.size() <= kFewMembers) return erase_member(object, key);
    const auto found = object.find(key);
    if (found == object.end()) return false;
    object.erase(found);
    return true;
  }
  bool replace(std::string_view pointer, Value value) {
    if (!fits(pointer, value)) return false;
    if (pointer.empty()) {
      open_raw(value);
      if (!value.is_object() && !value.is_array()) return fail("replace operation value must be object or array: %!w(<nil>)");
      document_ = std::move(value);
      return true;
    }
    const Place place = locate(document_, pointer);
    if (!place.container) return is_missing("replace operation does not apply: doc is missing path", pointer);
    if (place.container->is_object()) return add(place, std::move(value));
    Value* present = get(*place.container, place.key);
    if (present == nullptr) return is_missing("replace operation does not apply: doc is missing key", pointer);
    *present = std::move(value);
    return true;
  }
  bool test(std::string_view pointer, const Value* value) {
    if (!value) return fail_test(pointer);
    if (pointer.empty()) return same(document_, *value) || fail_test(pointer);
    const Place place = locate(document_, pointer);
    if (!place.container) return is_missing("test operation does not apply: is missing path", pointer);
    const Value* present = get(*place.container, place.key);
    if (!present && !place.container->is_object()) {
      return fail("error in test for path: '" + std::string(pointer) + "': " + index_problem(place.key));
    }
    // An absent member equals null; an absent item is an error.
    return (present ? same(*present, *value) : value->is_null()) || fail_test(pointer);
  }
  bool move(std::string_view from, std::string_view to) {
    const Place source = locate(document_, from);
    if (!source.container) return is_missing("move operation does not apply: doc is missing from path", from);
    const std::string start = "error in move for path: '" + source.key + "': ";
    Value* present = get(*source.container, source.key);
    if (!present) {
      const bool member = source.container->is_object();
      return fail(start + (member ? "Unable to remove nonexistent key: " + source.key + ": missing value" : index_problem(source.key)));
    }
    if (levels_above(to) > levels_above(from)) {
      // A move to a deeper level needs a walk over the value to check the nesting.
      if (!touch(count_values(*present, kMaxTouchedValues)) || !fits(to, *present)) return false;
    }
    Value value = std::move(*present);
    if (!remove(source)) return fail_in(start);
    const Place target = locate(document_, to);
    if (!target.container) return is_missing("move operation does not apply: doc is missing destination path", to);
    return add(target, std::move(value)) || fail_in("error in move for path: '" + std::string(to) + "': ");
  }
  bool copy(std::string_view from, std::string_view to) {
    const Place source = locate(document_, from);
    if (!source.container) return is_missing("copy operation does not apply: doc is missing from path", from);
    const Value* present = get(*source.container, source.key);
    if (!present && source.container->is_array()) {
      return fail("error in copy for from: '" + std::string(from) + "': " + index_problem(source.key));
    }
    if (present && !fits(to, *present)) return false;
    Value value = present ? Value(*present, document_.storage()) : Value(nullptr, document_.storage());
    copied_ += to_json(value).size();
    if (copied_ > kMaxCopiedBytes) {
      return fail("Unable to complete the copy, the accumulated size increase of copy is " + std::to_string(copied_) +
                  ", exceeding the limit " + std::to_string(kMaxCopiedBytes));
    }
    const Place target = locate(document_, to);
    if (!target.container) return is_missing("copy operation does not apply: doc is missing destination path", to);
    return add(target, std::move(value)) || fail_in("error while adding value during copy: ");
  }

  Value& document_;
  std::size_t copied_ = 0;
  std::size_t touched_ = 0;
  Status failure_;
  JsonPatchProblem problem_;
};

Status refused() {
  return Status(422, Reason::kInvalid, "the server rejected our request due to an error in our request").with_details({});
}

}  // namespace

Status json_patch(Value& target, const Array& operations) {
  JsonPatchProblem problem;
  return json_patch(target, operations, problem);
}

Status json_patch(Value& target, const Array& operations, JsonPatchProblem& problem) {
  if (operations.size() > kMaxOperations) {
    return request_entity_too_large("The allowed maximum operations in a JSON patch is " + std::to_string(kMaxOperations) + ", got " +
                                    std::to_string(operations.size()));
  }
  Patcher patcher(target);
  for (const Value& operation : operations) {
    if (operation.is_object() && patcher.apply(operation.get_object())) continue;
    problem = patcher.take_problem();
    Status failure = patcher.take_failure();
    return failure.ok() ? refused() : failure;
  }
  return {};
}

}  // namespace BACKPLANE_API
