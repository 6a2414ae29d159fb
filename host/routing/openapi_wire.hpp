// A hand-written protobuf encoder for gnostic's Document (v2 and v3), which only OpenAPI clients use.
//
// Thread-safety: values; each Wire is used by one thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"

namespace backplane::openapi {

// Appends the fields of one message.
class Wire {
 public:
  void text(int field, std::string_view value);
  void flag(int field, bool value);  // false is not encoded
  void integer(int field, std::int64_t value);
  void real(int field, double value);
  void message(int field, const Wire& inner) { text(field, inner.out_); }
  const std::string& bytes() const noexcept { return out_; }

 private:
  void key(int field, int type);
  void varint(std::uint64_t value);
  std::string out_;
};

// A member of a JSON object that put_plain() encodes as a scalar field. put_plain() skips members that are absent.
struct PlainField {
  enum Kind : unsigned char { kText, kTexts, kFlag, kInteger, kReal };
  std::string_view member;
  int number;
  Kind kind = kText;
};
void put_plain(Wire& wire, const Object& object, std::span<const PlainField> fields);

// Encodes gnostic's message Any. Its field 2 is YAML text, and JSON is YAML.
Wire any(const Value& value);
// Encodes the members whose names begin with "x-" as messages NamedAny.
void put_extensions(Wire& wire, int field, const Object& object);

// Encodes the members that are objects as messages with the name in field 1 and the value in field 2.
template <class Encode>
void put_named(Wire& wire, int field, const Object& object, Encode encode) {
  for (const auto& member : object) {
    if (!member.value().is_object()) continue;
    Wire named;
    named.text(1, member.key());
    named.message(2, encode(member.value().get_object()));
    wire.message(field, named);
  }
}

}  // namespace backplane::openapi
