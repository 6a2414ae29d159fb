// Hand-written protobuf encoder for the two versions of gnostic's Document, which only OpenAPI clients use.
//
// Thread-safety: values; one writer each.
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
  void flag(int field, bool value);  // a false one is left out
  void integer(int field, std::int64_t value);
  void real(int field, double value);
  void message(int field, const Wire& inner) { text(field, inner.out_); }
  const std::string& bytes() const noexcept { return out_; }

 private:
  void key(int field, int type);
  void varint(std::uint64_t value);
  std::string out_;
};

// Appends a member unchanged, if it is present.
struct PlainField {
  enum Kind : unsigned char { kText, kTexts, kFlag, kInteger, kReal };
  std::string_view member;
  int number;
  Kind kind = kText;
};
void put_plain(Wire& wire, const Object& object, std::span<const PlainField> fields);

// Any: {yaml = 2}; JSON is YAML.
Wire any(const Value& value);
// Members that begin with "x-", as NamedAny.
void put_extensions(Wire& wire, int field, const Object& object);

// Members that are objects, as messages of {name = 1, value = 2}.
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
