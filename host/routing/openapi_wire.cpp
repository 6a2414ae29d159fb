#include "routing/openapi_wire.hpp"

#include <cstring>

namespace backplane::openapi {

void Wire::key(int field, int type) { varint(static_cast<std::uint64_t>(field) << 3 | static_cast<unsigned>(type)); }

void Wire::varint(std::uint64_t value) {
  while (value >= 0x80) {
    out_.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out_.push_back(static_cast<char>(value));
}

void Wire::text(int field, std::string_view value) {
  key(field, 2);
  varint(value.size());
  out_.append(value);
}

void Wire::flag(int field, bool value) {
  if (!value) return;
  key(field, 0);
  varint(1);
}

void Wire::integer(int field, std::int64_t value) {
  key(field, 0);
  varint(static_cast<std::uint64_t>(value));
}

void Wire::real(int field, double value) {
  key(field, 1);
  char bits[sizeof value];
  std::memcpy(bits, &value, sizeof value);
  out_.append(bits, sizeof bits);
}

namespace {

void put(Wire& wire, const PlainField& field, const Value& value) {
  switch (field.kind) {
    case PlainField::kText:
      if (value.is_string() && !value.get_string().empty()) wire.text(field.number, value.get_string());
      return;
    case PlainField::kTexts:
      if (!value.is_array()) return;
      for (const auto& item : value.get_array()) {
        if (item.is_string()) wire.text(field.number, item.get_string());
      }
      return;
    case PlainField::kFlag:
      return wire.flag(field.number, value.is_bool() && value.get_bool());
    case PlainField::kInteger:
      if (value.is_int64() && value.get_int64() != 0) wire.integer(field.number, value.get_int64());
      return;
    case PlainField::kReal:
      if (value.is_number() && value.to_number<double>() != 0) wire.real(field.number, value.to_number<double>());
      return;
  }
}

}  // namespace

void put_plain(Wire& wire, const Object& object, std::span<const PlainField> fields) {
  for (const PlainField& field : fields) {
    if (const Value* value = find(object, field.member)) put(wire, field, *value);
  }
}

Wire any(const Value& value) {
  Wire out;
  out.text(2, to_json(value));
  return out;
}

void put_extensions(Wire& wire, int field, const Object& object) {
  for (const auto& member : object) {
    if (!std::string_view(member.key()).starts_with("x-")) continue;
    Wire named;
    named.text(1, member.key());
    named.message(2, any(member.value()));
    wire.message(field, named);
  }
}

}  // namespace backplane::openapi
