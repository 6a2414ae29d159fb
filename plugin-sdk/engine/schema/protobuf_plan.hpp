// The order and rules of encoding one type's members in protobuf, computed when the type is first encoded.
//
// Thread-safety: immutable.
// Lifetime:      a plan lives in its type's Body.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "schema/type.hpp"

namespace backplane::schema {

struct ProtobufPlan;

struct ProtobufField {
  const Type* type = nullptr;
  std::size_t property = 0;  // index in the properties of the body that is walked
  bool wrapped = false;      // a list wrapped in a message
  std::string tag;           // the tag of one value; for a list or map, of one item or entry
  std::string unset;         // the encoding of an unset member; empty: an unset member is not encoded
  // A message whose members are members of the same JSON object.
  std::unique_ptr<const ProtobufPlan> inlined;
};

struct ProtobufPlan {
  std::vector<ProtobufField> fields;  // in ascending order of their numbers

  // The plan of a body's own members.
  static std::unique_ptr<const ProtobufPlan> make(const Body& body);
};

// Tag and length, as protobuf writes them.
void append_varint(std::string& out, std::uint64_t value);
std::string protobuf_tag(std::uint32_t number, Form form);
// The encoding of an unset value of a type, without its tag, but with its length if it has one.
std::string protobuf_zero(const Type& type);

}  // namespace backplane::schema
