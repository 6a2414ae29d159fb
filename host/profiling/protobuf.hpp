// Writes the fields of a protobuf message.
//
// Thread-safety: a value.
// Errors:        none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace backplane::profiling {

class ProtobufMessage {
 public:
  // A varint field; it is omitted if the value is 0, the default.
  ProtobufMessage& number(int field, std::uint64_t value) {
    if (value == 0) return *this;
    varint(static_cast<std::uint64_t>(field) << 3);
    varint(value);
    return *this;
  }
  ProtobufMessage& bytes(int field, std::string_view value) {
    varint(static_cast<std::uint64_t>(field) << 3 | 2);
    varint(value.size());
    text_.append(value);
    return *this;
  }
  ProtobufMessage& message(int field, const ProtobufMessage& inner) { return bytes(field, inner.text_); }
  // A repeated, packed varint field.
  ProtobufMessage& packed(int field, const std::vector<std::uint64_t>& values) {
    ProtobufMessage inner;
    for (const std::uint64_t value : values) inner.varint(value);
    return values.empty() ? *this : message(field, inner);
  }
  const std::string& text() const noexcept { return text_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_.push_back(static_cast<char>(value | 0x80));
    text_.push_back(static_cast<char>(value));
  }
  std::string text_;
};

}  // namespace backplane::profiling
