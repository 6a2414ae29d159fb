// Decoding and encoding as Go would do it, in one walk over the tree.
//
// Members are converted in place.  An object is rebuilt only if its members or their order differ from the output; objects from storage
// or from a Go client keep their nodes.
#include <algorithm>
#include <array>
#include <cmath>

#include "engine/raw_json.hpp"
#include "schema/hidden_annotations.hpp"
#include "schema/scalars.hpp"
#include "schema/typed.hpp"

namespace backplane::schema {
namespace {

// The position of each property in the object plus 1; 0: the property is absent.
class Slots {
 public:
  explicit Slots(std::size_t count) {
    if (count > inline_.size()) heap_.resize(count);
    data_ = count > inline_.size() ? heap_.data() : inline_.data();
    std::fill_n(data_, count, std::uint32_t(0));
  }
  std::uint32_t& operator[](std::size_t i) noexcept { return data_[i]; }

 private:
  std::array<std::uint32_t, 64> inline_;
  std::vector<std::uint32_t> heap_;
  std::uint32_t* data_;
};

Value zero_value(const Type& type, const json::storage_ptr& storage);

// The value that is printed for an unset property.
Value unset_value(const Property& property, const json::storage_ptr& storage) {
  return property.pointer ? Value(nullptr, storage) : zero_value(*property.type, storage);
}

Value zero_value(const Type& type, const json::storage_ptr& storage) {
  switch (type.form()) {
    case Form::kString:
      return Value(std::string_view(), storage);
    case Form::kBool:
      return Value(false, storage);
    case Form::kInt32:
    case Form::kInt64:
    case Form::kDouble:
    case Form::kIntOrString:
      return Value(0, storage);
    case Form::kDuration:
      return Value("0s", storage);
    case Form::kQuantity:
      return Value("0", storage);
    case Form::kStruct:
      break;
    default:
      return Value(nullptr, storage);
  }
  const Body& body = type.body();
  Object object(storage);
  object.reserve(body.always.size());
  for (const std::size_t index : body.always) object.emplace(body.properties[index].name, unset_value(body.properties[index], storage));
  return Value(std::move(object));
}

bool zero_is_null(const Type& type) noexcept {
  switch (type.form()) {
    case Form::kString:
    case Form::kBool:
    case Form::kInt32:
    case Form::kInt64:
    case Form::kDouble:
    case Form::kIntOrString:
    case Form::kDuration:
    case Form::kQuantity:
    case Form::kStruct:
      return false;
    default:
      return true;
  }
}

// Whether output has the member unchanged.
bool is_printed(const Property& property, const Value& value) noexcept {
  if (value.is_null()) return property.always && (property.pointer || zero_is_null(*property.type));
  if (property.pointer || property.omit == Omit::kNever || property.omit == Omit::kUnset) return true;
  if (property.type->struct_like()) return property.omit != Omit::kZero || !is_zero(value);
  return !is_zero(value);
}

// Members that code adds to an object in addition to its schema's defaults.
constexpr std::size_t kRoomToGrow = 1;

void rebuild(const Body& body, Object& object, Slots& slots, std::size_t kept) {
  // Reserves room for the defaults that follow, because an arena does not reuse the memory of an outgrown table.
  std::size_t room = kept + kRoomToGrow;
  for (const auto* list : {&body.always, &body.with_defaults}) {
    for (const std::size_t index : *list) room += slots[index] == 0 ? 1 : 0;
  }
  Object out(object.storage());
  out.reserve(room);
  for (std::size_t i = 0; i < body.properties.size(); ++i) {
    const Property& property = body.properties[i];
    if (slots[i] != 0) {
      out.emplace(property.name, std::move((object.begin() + (slots[i] - 1))->value()));
    } else if (property.always) {
      out.emplace(property.name, unset_value(property, object.storage()));
    }
  }
  object = std::move(out);
}

bool decode_struct(const Type& type, Object& object, Decode& decode, const Frame& frame) {
  const Body& body = type.body();
  if (!body.error.empty()) return decode.fatal("schema: " + body.error);
  Slots slots(body.properties.size());
  bool canonical = true;
  std::size_t next = 0, kept = 0;
  std::uint32_t position = 0;
  for (auto& member : object) {
    ++position;
    const std::string_view name = member.key();
    const int found = body.find(name, next);
    if (found < 0) {
      decode.unknown_field(frame, name);
      canonical = false;
      continue;
    }
    const auto index = static_cast<std::size_t>(found);
    const Property& property = body.properties[index];
    decode.known_field(frame, name);
    const Frame inner{&frame, Frame::Step::kField, &type, property.name, property.embedded, 0};
    if (!decode_value(*property.type, member.value(), decode, inner)) return false;
    const bool printed = is_printed(property, member.value());
    canonical = canonical && printed && index >= next;
    if (printed) {
      slots[index] = position;
      ++kept;
    }
    next = index + 1;
  }
  for (const std::size_t index : body.always) canonical = canonical && slots[index] != 0;
  if (!canonical) rebuild(body, object, slots, kept);
  return true;
}

bool decode_list(const Type& type, Array& array, Decode& decode, const Frame& frame) {
  const Type& items = *type.body().items;
  Frame inner{&frame, Frame::Step::kIndex, nullptr, {}, {}, 0};
  for (Value& item : array) {
    if (item.is_null()) {
      item = zero_value(items, array.storage());
    } else if (!decode_value(items, item, decode, inner)) {
      return false;
    }
    ++inner.index;
  }
  return true;
}

bool decode_map(const Type& type, Object& object, Decode& decode, const Frame& frame) {
  const Type& values = *type.body().items;
  for (auto& member : object) {
    const Frame inner{&frame, Frame::Step::kKey, nullptr, member.key(), {}, 0};
    decode.known_field(frame, member.key());
    if (member.value().is_null()) {
      // Bytes go through protobuf, which has no nil inside a map.
      const bool bytes = values.form() == Form::kBytes;
      member.value() = bytes ? Value(std::string_view(), object.storage()) : zero_value(values, object.storage());
    } else if (!decode_value(values, member.value(), decode, inner)) {
      return false;
    }
  }
  sort_keys(object);
  return true;
}

// A type with a custom JSON decoder decodes its value whole: problems inside it are not reported, and any error ends the decoding.
bool decode_shape(const Type& type, Value& value, Decode& decode, const Frame& frame) {
  const Body& body = type.body();
  const Type* inside = value.is_object() ? body.object_shape : value.is_array() ? body.array_shape : nullptr;
  if (value.is_array() && value.get_array().empty() && inside) {
    value = nullptr;
    return true;
  }
  if (inside) {
    Decode nested(nullptr);
    decode_value(*inside, value, nested, Frame{});
    if (auto error = nested.finish()) return decode.fatal(std::move(*error), frame);
    return true;
  }
  if (body.boolean_shape) return value.is_bool() || decode.fatal("boolean or JSON schema expected");
  value = nullptr;
  return true;
}

bool type_mismatch(const Type& type, const Value& value, Decode& decode, const Frame& frame) {
  return decode.type_error(value, false, type, frame);
}

// Makes the tree of a float64 independent of the encoding: the tree of its printed text.
void make_canonical(Value& number) {
  constexpr double kExact = 9007199254740992;  // 2^53: up to there integers are printed digit by digit
  const double real = number.to_number<double>();
  const bool negative_zero = real == 0 && std::signbit(real);
  if (std::fabs(real) <= kExact && real == std::trunc(real) && !negative_zero) {
    number = static_cast<std::int64_t>(real);
  } else if (std::fabs(real) > kExact && std::isfinite(real)) {
    number = *parse_json(to_json(Value(real)), {}, nullptr);
  } else {
    number = real;
  }
}

// Sorts the keys at every level, because untyped JSON is a map in Go.
void sort_deep(Value& value) {
  if (Object* object = value.if_object()) {
    for (auto& member : *object) sort_deep(member.value());
    sort_keys(*object);
  } else if (Array* array = value.if_array()) {
    for (Value& item : *array) sort_deep(item);
  }
}

// Replaces a raw value in an operation of a patch by its tree, in which the raw values of `type` remain raw.
void read_sent(const Type& type, Value& value) {
  const std::string text(raw_text(value));
  read_raw(value);
  keep_raw(&type, value, text);
}

struct ByKey {
  template <class Member>
  bool operator()(const Member* a, const Member* b) const noexcept {
    return a->key() < b->key();
  }
};

}  // namespace

bool decode_value(const Type& type, Value& value, Decode& decode, const Frame& frame) {
  if (value.is_null()) return true;
  if (type.form() != Form::kRawExtension && type.form() != Form::kFieldsV1 && is_raw(value)) read_sent(type, value);
  switch (type.form()) {
    case Form::kString:
      return value.is_string() || type_mismatch(type, value, decode, frame);
    case Form::kBool:
      return value.is_bool() || type_mismatch(type, value, decode, frame);
    case Form::kDouble:
      if (!value.is_number()) return type_mismatch(type, value, decode, frame);
      make_canonical(value);
      return true;
    case Form::kInt32:
    case Form::kInt64:
      return decode_integer(value, type, decode, frame);
    case Form::kBytes:
      return decode_bytes(value, type, decode, frame);
    case Form::kTime:
      return decode_time(value, false, decode, frame);
    case Form::kMicroTime:
      return decode_time(value, true, decode, frame);
    case Form::kDuration:
      return decode_duration(value, decode, frame);
    case Form::kQuantity:
      return decode_quantity(value, decode);
    case Form::kIntOrString:
      return decode_int_or_string(value, decode, frame);
    case Form::kRawExtension:
      normalize_raw(value);
      return true;
    case Form::kAnyJson:
      sort_deep(value);
      return true;
    case Form::kFieldsV1:
      return true;
    case Form::kStruct:
      return value.is_object() ? decode_struct(type, value.get_object(), decode, frame) : type_mismatch(type, value, decode, frame);
    case Form::kList:
      return value.is_array() ? decode_list(type, value.get_array(), decode, frame) : type_mismatch(type, value, decode, frame);
    case Form::kMap:
      return value.is_object() ? decode_map(type, value.get_object(), decode, frame) : type_mismatch(type, value, decode, frame);
    case Form::kShape:
      return decode_shape(type, value, decode, frame);
  }
  return true;
}

void sort_keys(Object& object) {
  const auto by_key = [](const auto& a, const auto& b) { return a.key() < b.key(); };
  if (std::is_sorted(object.begin(), object.end(), by_key)) return;
  std::vector<json::key_value_pair*> members;
  members.reserve(object.size());
  for (auto& member : object) members.push_back(&member);
  std::sort(members.begin(), members.end(), ByKey());
  Object out(object.storage());
  out.reserve(object.size());
  for (json::key_value_pair* member : members) out.emplace(member->key(), std::move(member->value()));
  object = std::move(out);
}

Status Type::normalize(Value& value, DecodeReport* report) const {
  if (const std::string& error = body().error; !error.empty()) return internal_error("schema: " + error);
  if (structural()) return normalize_structural(*this, value, report);
  Decode decode(report);
  if (value.is_null()) {
    value = zero_value(*this, value.storage());
  } else {
    decode_value(*this, value, decode, Frame{});
  }
  if (auto error = decode.finish()) return bad_request(error->message());
  if (std::string problem = hidden_annotation_problem(*this, value); !problem.empty()) return bad_request(std::move(problem));
  return {};
}

}  // namespace backplane::schema
